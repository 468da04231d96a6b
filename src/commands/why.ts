import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpAccess } from '../client/http-transport.ts';
import { terminal } from '../host/terminal.ts';
import { explain } from '../why/explain.ts';
import { type Explanation, explainUnread, type Overview, type StoreProblem } from '../why/explanation/explanation.ts';
import { render, renderOverview } from '../why/explanation/render.ts';
import { overviewOf } from '../why/overview.ts';
import { rfc3339 } from '../why/explanation/timestamps.ts';
import { ClusterError, StoreUnavailable } from '../why/reading/cluster-reader.ts';
import { type ReadOptions, readEverything, readObjects } from '../why/reading/read-objects.ts';
import { type PathReader, readStoreProblem } from '../why/reading/store-problem.ts';
import { parseTarget, type Target, targetUsage } from '../why/explanation/target.ts';
import { accessFlags, accessOf, readingText, withClient } from './cluster-access.ts';
import { type Command, type FlagValues, UsageError } from './command.ts';
import { jsonText, type Output, outputFlag, outputOf } from './result/output.ts';
import { type ExitCode, exitCodes } from './result/exit-codes.ts';
import { withProgress } from './result/progress.ts';

/** `moor why`: explains the state of an object, or lists everything that is stuck, in this cluster or any other. */
export const whyCommand: Command = {
  arguments: { usage: '[KIND/NAME]', about: `${targetUsage}; none: everything that is stuck, the worst first`, least: 0, most: 2 },
  about: `Reads the objects, decides about them as the controllers do, and prints: the state and since when, every candidate with
the rule that rejected it, what would change the answer, and which component acts next. Without a target it lists everything
that is stuck, one line each. It only reads. It works on Mooring and on any Kubernetes cluster, also as "kubectl why". Events
play no part: the answer is the same without them.

Objects that you may not read are named, and the answer leaves them open.`,
  flags: [
    {
      name: 'namespace',
      short: 'n',
      value: 'NAMESPACE',
      about: 'the namespace of the object; without a target: only what is in it',
      default: 'that of the context, or default; without a target: all',
    },
    { name: 'watch', short: 'w', about: 'print again when the answer changes, until the object is fine or gone; without a target, until Ctrl-C' },
    ...accessFlags,
    outputFlag,
  ],
  examples: [
    { line: 'moor why', about: 'everything that is stuck, the worst first' },
    { line: 'moor why pvc/data -n shop', about: 'why is this PVC Pending?' },
    { line: 'moor why pod/db-0 -n shop', about: 'why does this pod wait for its volumes, or crash?' },
    { line: 'moor why sts/db -n shop --watch', about: 'what does this StatefulSet wait for, until it is ready?' },
    { line: 'moor why pv/pv1', about: 'why is this PV not bound?' },
    { line: 'moor why va/csi-5f3c…', about: 'why is the volume still attached? (names: kubectl get volumeattachments)' },
    { line: "moor why pvc/data -o json | jq '.candidates[] | {name, refusals}'", about: 'every candidate with the rules that rejected it' },
    { line: 'kubectl proxy --port 8001 & moor why pvc/data --server http://127.0.0.1:8001', about: 'a cluster whose kubeconfig uses an exec plugin' },
  ],
  run: (flags) => runWhy(whyOptions(flags)),
};

interface WhyOptions {
  /** Undefined: everything that is stuck. */
  readonly target: Target | undefined;
  /** Of the overview: undefined for all. */
  readonly namespace: string | undefined;
  /** The namespace of the context: for a user who may not list all namespaces. */
  readonly ownNamespace: string;
  readonly access: HttpAccess;
  readonly output: Output;
  readonly watch: boolean;
}

function whyOptions(flags: FlagValues): WhyOptions {
  const access = accessOf(flags);
  const namespace = flags.text('namespace');
  const target = flags.arguments.length === 0 ? undefined : parseTarget(flags.arguments, namespace ?? access.namespace);
  if (typeof target === 'string') throw new UsageError(target);
  return { target, namespace, ownNamespace: access.namespace, access, output: outputOf(flags), watch: flags.on('watch') };
}

/** Prints the answer, and again when it changes. Resolves with the exit code. */
async function runWhy(options: WhyOptions): Promise<ExitCode> {
  const { access, watch } = options;
  try {
    return await withClient(access, 'why', async (client, { world, logs, paths }) => {
      const ask = () => answerWithStore(options, { client, logs, paths, now: world.clock.now() });
      const first = await withProgress(readingText(access), ask);
      process.stdout.write(printed(first, options));
      return watch ? await watchAnswer({ first, ask, options }) : exitCodeOf(first);
    });
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    process.stderr.write(`moor why: ${error.message} (${access.url})\n`);
    return exitCodes.failure;
  }
}

type Answer = Explanation | Overview;

/** Objects can often be read while the store takes no writes: so long is waited for them then. */
const readingMs = 10_000;

/** What the server says of its store comes first: everything else waits for it. */
async function answerWithStore(options: WhyOptions, reading: ReadOptions & { readonly paths: PathReader }): Promise<Answer> {
  const store = await readStoreProblem(reading.paths);
  const answer = answerOf(options, reading).catch((error: unknown) => {
    if (error instanceof StoreUnavailable) return unreadAnswer(options, error.problem, reading.now);
    throw error;
  });
  if (store === undefined) return answer;
  const read = await Promise.race([answer, sleep(readingMs, undefined, { ref: false })]);
  return read === undefined ? unreadAnswer(options, store, reading.now) : { ...read, store };
}

function unreadAnswer({ target }: WhyOptions, store: StoreProblem, now: number): Answer {
  const asOf = rfc3339(now);
  return target === undefined
    ? { asOf, stuck: [], waiting: [], unseen: [{ what: 'any object', because: 'the store does not answer' }], store }
    : explainUnread(target, store, asOf);
}

const isOverview = (answer: Answer): answer is Overview => 'stuck' in answer;

async function answerOf({ target, namespace, ownNamespace }: WhyOptions, reading: ReadOptions): Promise<Answer> {
  if (target !== undefined) return explain(target, await readObjects(target, reading), reading.now);
  const objects = await readEverything(reading, namespace);
  // A user of one namespace sees that one.
  const mayListAll = namespace !== undefined || objects.pods !== undefined || objects.claims !== undefined;
  return overviewOf(mayListAll ? objects : await readEverything(reading, ownNamespace), reading.now);
}

function exitCodeOf(answer: Answer): ExitCode {
  if (answer.store !== undefined) return exitCodes.notInOrder;
  if (isOverview(answer)) return answer.stuck.length === 0 ? exitCodes.success : exitCodes.notInOrder;
  return answer.verdict === 'absent' ? exitCodes.failure : answer.verdict === 'stuck' ? exitCodes.notInOrder : exitCodes.success;
}

function printed(answer: Answer, { output, watch }: WhyOptions): string {
  // One line for each answer of a watch, so that a program reads them one by one.
  if (output === 'json') return jsonText(answer, watch ? 'line' : 'page');
  const { colour, width } = terminal(100);
  return isOverview(answer)
    ? renderOverview(answer, { colour, width: process.stdout.isTTY ? process.stdout.columns : undefined })
    : render(answer, { colour, width });
}

interface Watching {
  readonly first: Answer;
  readonly ask: () => Promise<Answer>;
  readonly options: WhyOptions;
}

/** Until the object is fine or gone. A cluster that does not answer for a while is asked again. */
async function watchAnswer({ first, ask, options }: Watching): Promise<ExitCode> {
  let last = first;
  while (isOverview(last) || (last.verdict !== 'fine' && last.verdict !== 'absent')) {
    // A timer of the world does not keep the process alive.
    await sleep(watchEveryMs);
    const next = await ask().catch((error: unknown) => {
      if (error instanceof ClusterError) return last;
      throw error;
    });
    if (essence(next) !== essence(last)) process.stdout.write(`${options.output === 'json' ? '' : '\n'}${printed(next, options)}`);
    last = next;
  }
  return exitCodeOf(last);
}

/** What does not change by time alone. */
const essence = (answer: Answer): string => JSON.stringify({ ...answer, asOf: '' });

const watchEveryMs = 2000;
