export const ascending = (a: number, b: number): number => a - b;
export const descending = (a: number, b: number): number => b - a;

/** Several lists, each in order, as one in order; what several of them have comes once. */
export function* inOrder(compare: (a: number, b: number) => number, ...lists: readonly Iterable<number>[]): Generator<number, void, undefined> {
  const heads = lists.map((list) => {
    const rest = list[Symbol.iterator]();
    return { rest, next: rest.next() };
  });
  for (;;) {
    let least: number | undefined;
    for (const { next } of heads) if (next.done !== true && (least === undefined || compare(next.value, least) < 0)) least = next.value;
    if (least === undefined) return;
    yield least;
    for (const head of heads) if (head.next.done !== true && head.next.value === least) head.next = head.rest.next();
  }
}
