/** Without the characters at its end that are one of these. An expression such as /0*$/ would look at each run of them anew from each of its places. */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1] ?? '')) end--;
  return text.slice(0, end);
}
