/** One system call of a traced process. `begin` and `end` count the lines of the trace: what ended earlier has a smaller `end`. */
export interface Call {
  readonly name: string;
  readonly begin: number;
  readonly end: number;
  readonly result: number;
  /** The descriptor it is about, where its first argument is one. */
  readonly fd: number | undefined;
  /** The path of an `openat`. */
  readonly path: string;
  /** The bytes of a `write`, as far as strace prints them. */
  readonly data: Buffer | undefined;
  readonly text: string;
}

/** Reads what `strace -f -xx` wrote; a call that another thread interrupted is put together again. */
export function readTrace(trace: string): Call[] {
  const calls: Call[] = [];
  const unfinished = new Map<string, { text: string; begin: number }>();
  for (const [at, line] of trace.split('\n').entries()) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    if (rest.endsWith('<unfinished ...>')) {
      unfinished.set(thread, { text: rest.slice(0, -'<unfinished ...>'.length), begin: at });
    } else if (resumed !== null) {
      const start = unfinished.get(thread);
      unfinished.delete(thread);
      if (start !== undefined) calls.push(...callOf(start.text + (resumed[1] ?? ''), start.begin, at));
    } else calls.push(...callOf(rest, at, at));
  }
  return calls;
}

function callOf(text: string, begin: number, end: number): Call[] {
  const [, name, args, result] = /^(\w+)\((.*)\)\s+= (-?\d+)/.exec(text) ?? [];
  if (name === undefined || args === undefined || result === undefined) return [];
  const [, quoted] = /"((?:\\x[0-9a-f]{2})*)"/.exec(args) ?? [];
  const bytes = quoted === undefined ? undefined : Buffer.from(quoted.replaceAll('\\x', ''), 'hex');
  const fd = /^\d+/.exec(args)?.[0];
  return [
    {
      name,
      begin,
      end,
      result: Number(result),
      fd: fd === undefined ? undefined : Number(fd),
      path: name === 'openat' ? (bytes?.toString() ?? '') : '',
      data: /write/.test(name) ? bytes : undefined,
      text,
    },
  ];
}
