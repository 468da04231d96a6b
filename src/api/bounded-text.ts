/** Texts of answers, bounded: a client may send megabytes where a name belongs, and an answer that repeats them all can be read by no user. */

/** Longer texts are cut; the rest is counted. */
export const cutText = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/u, '')}... (${text.length - maxLength} more characters)`;

/** JSON of which no more is written than `maxLength` asks for. */
export function boundedJson(value: unknown, maxLength: number): string {
  const room = { left: maxLength };
  const cut = (part: unknown): unknown => {
    if (room.left <= 0) return undefined;
    if (typeof part === 'string') {
      const kept = part.slice(0, room.left + 1);
      room.left -= kept.length + 2;
      return kept;
    }
    room.left -= 4;
    if (typeof part !== 'object' || part === null || 'toJSON' in part) return part;
    if (Array.isArray(part)) {
      const items: unknown[] = [];
      for (const item of part) {
        if (room.left <= 0) break;
        items.push(cut(item));
      }
      return items;
    }
    const members: Record<string, unknown> = {};
    for (const key in part) {
      if (room.left <= 0) break;
      room.left -= key.length;
      Object.defineProperty(members, key, { value: cut((part as Record<string, unknown>)[key]), enumerable: true, configurable: true });
    }
    return members;
  };
  const text = JSON.stringify(cut(value)) ?? 'null';
  return room.left > 0 ? text : `${text.slice(0, maxLength)}...`;
}
