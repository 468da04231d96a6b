import { type Chain, chainColumns, type ChainLink } from '../../model/chain.ts';

const columnWidth = 190;
const boxWidth = 164;
const boxHeight = 54;
const rowGap = 72;
const top = 34;

/** Columns by kind, rows in order: the chain has a fixed meaning from left to right. */
export function ChainPicture({ chain }: { readonly chain: Chain }) {
  const places = placesOf(chain.links);
  const rows = Math.max(...chainColumns.map((_, column) => chain.links.filter((link) => link.column === column).length));
  const [width, height] = [columnWidth * chainColumns.length, top + rows * rowGap];
  const broken = chain.links.find(({ id }) => id === chain.broken);
  return (
    <div class="chain" tabIndex={0} role="region" aria-label="Picture of the chain">
      <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={textOf(chain, broken)}>
        {chainColumns.map((kind, column) => (
          <text key={kind} class="kind" x={column * columnWidth + 4} y={18}>
            {kind}
          </text>
        ))}
        {chain.edges.map(([from, to]) => (
          <Edge key={`${from} ${to}`} from={places.get(from)} to={places.get(to)} isBroken={to === chain.broken} />
        ))}
        {chain.links.map((link) => (
          <Box key={link.id} link={link} place={places.get(link.id)} isBroken={link.id === chain.broken} />
        ))}
      </svg>
    </div>
  );
}

interface Place {
  readonly x: number;
  readonly y: number;
}

function placesOf(links: readonly ChainLink[]): ReadonlyMap<string, Place> {
  const taken = new Map<number, number>();
  return new Map(
    links.map(({ id, column }) => {
      const row = taken.get(column) ?? 0;
      taken.set(column, row + 1);
      return [id, { x: column * columnWidth, y: top + row * rowGap }];
    }),
  );
}

interface EdgeProps {
  readonly from: Place | undefined;
  readonly to: Place | undefined;
  readonly isBroken: boolean;
}

function Edge({ from, to, isBroken }: EdgeProps) {
  if (from === undefined || to === undefined) return null;
  const [x1, y1, x2, y2] = [from.x + boxWidth, from.y + boxHeight / 2, to.x, to.y + boxHeight / 2];
  const middle = (x1 + x2) / 2;
  return <path class={isBroken ? 'edge broken' : 'edge'} d={`M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`} />;
}

function Box({ link, place, isBroken }: { readonly link: ChainLink; readonly place: Place | undefined; readonly isBroken: boolean }) {
  if (place === undefined) return null;
  return (
    <g class={`link ${link.verdict}${isBroken ? ' broken' : ''}`} transform={`translate(${place.x} ${place.y})`}>
      <title>{link.name}</title>
      <rect width={boxWidth} height={boxHeight} rx={6} />
      <text x={10} y={22}>
        {cut(link.name)}
      </text>
      <text class="detail" x={10} y={41}>
        {isBroken ? `✗ ${link.detail === '' ? 'waits here' : link.detail}` : link.detail}
      </text>
    </g>
  );
}

const longestName = 22;
const cut = (name: string): string => (name.length <= longestName ? name : `${name.slice(0, longestName - 1)}…`);

/** The same for readers who do not see the picture. */
function textOf({ links }: Chain, broken: ChainLink | undefined): string {
  const chain = links.map(({ column, name, detail }) => `${chainColumns[column] ?? ''} ${name} ${detail}`.trim()).join(', ');
  return `${chain}. ${broken === undefined ? 'Nothing is broken.' : `Broken at ${chainColumns[broken.column] ?? ''} ${broken.name}.`}`;
}
