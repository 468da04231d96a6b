import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

interface VirtualListProps<T> {
  readonly items: readonly T[];
  /** In pixels, the same for all. */
  readonly rowHeight: number;
  readonly keyOf: (item: T) => string;
  readonly label: string;
  /** The columns of its first row. */
  readonly head: ComponentChildren;
  /** The cells of a row. */
  readonly children: (item: T) => ComponentChildren;
  readonly onOpen: (item: T) => void;
  /** Told which items can be seen. */
  readonly onShown?: (items: readonly T[]) => void;
}

/** Rows above and below the visible ones. */
const margin = 8;

/** A table of which only the rows that can be seen are in the document. Arrow keys move, Enter opens. */
export function VirtualList<T>({ items, rowHeight, keyOf, label, head, children, onOpen, onShown }: VirtualListProps<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState({ top: 0, height: 800 });
  const [active, setActive] = useState(0);
  const first = Math.max(0, Math.floor(scroll.top / rowHeight) - margin);
  const last = Math.min(items.length, Math.ceil((scroll.top + scroll.height) / rowHeight) + margin);
  const measure = () => box.current !== null && setScroll({ top: box.current.scrollTop, height: box.current.clientHeight });
  useLayoutEffect(() => {
    measure();
    addEventListener('resize', measure);
    return () => removeEventListener('resize', measure);
  }, []);
  useLayoutEffect(() => onShown?.(items.slice(first, last)), [items, first, last]);
  const move = (to: number) => {
    const next = Math.min(Math.max(to, 0), items.length - 1);
    setActive(next);
    const element = box.current;
    if (element === null) return;
    if (next * rowHeight < element.scrollTop) element.scrollTop = next * rowHeight;
    if ((next + 1) * rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = (next + 1) * rowHeight - element.clientHeight;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(scroll.height / rowHeight) - 1);
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -items.length, End: items.length };
    const step = steps[event.key];
    const item = items[active];
    if (step !== undefined) move(active + step);
    else if (event.key === 'Enter' && item !== undefined) onOpen(item);
    else return;
    event.preventDefault();
  };
  return (
    <div class="table" role="table" aria-label={label} aria-rowcount={items.length + 1}>
      <div class="row head" role="row" aria-rowindex={1}>
        {head}
      </div>
      <div class="rows" role="rowgroup" ref={box} onScroll={measure} onKeyDown={onKeyDown} tabIndex={0} aria-label={`${label}: arrow keys move, Enter opens`}>
        <div class="spacer" role="presentation" style={{ height: `${items.length * rowHeight}px` }}>
          {items.slice(first, last).map((item, index) => (
            <div
              key={keyOf(item)}
              class={`row${first + index === active ? ' active' : ''}`}
              role="row"
              aria-rowindex={first + index + 2}
              style={{ transform: `translateY(${(first + index) * rowHeight}px)`, height: `${rowHeight}px` }}
              onClick={() => {
                setActive(first + index);
                onOpen(item);
              }}
            >
              {children(item)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
