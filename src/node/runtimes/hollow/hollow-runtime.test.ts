import { describe, expect, test } from 'vitest';
import type { Container, Pod, PodSpec, PodStatus } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { podStatus } from '../../pods/status/pod-status.ts';
import { containerRecords } from '../../pod-worker/container-records.ts';
import { initialWorkerState } from '../../pod-worker/actions.ts';
import type { ContainerSpec } from '../../runtime.ts';
import { HollowRuntime } from './hollow-runtime.ts';

const start = Date.UTC(2026, 0, 1);

const container = (name: string, more: Partial<Container> = {}): Container => ({ name, image: 'nginx', resources: {}, ...more });

const podOf = (annotations: Record<string, string> = {}, spec: Partial<PodSpec> = {}, status: PodStatus = {}): Stored<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name: 'web', uid: 'uid', resourceVersion: '1', generation: 1, annotations },
  spec: { nodeName: 'node-1', restartPolicy: 'Always', containers: [container('app')], ...spec },
  status: { phase: 'Pending', qosClass: 'BestEffort', ...status },
});

/** A runtime on a clock that the test moves. */
class Bench {
  now = start;
  #timers: { readonly at: number; readonly callback: () => void }[] = [];
  readonly runtime = this.restart();
  /** uids, each time that the runtime told of a change. */
  readonly changes: string[] = [];

  restart(): HollowRuntime {
    this.#timers = [];
    const timers = {
      soon: () => undefined,
      after: (ms: number, callback: () => void) => {
        const timer = { at: this.now + ms, callback };
        this.#timers.push(timer);
        return () => void this.#timers.splice(this.#timers.indexOf(timer) >>> 0, 1);
      },
    };
    const runtime = new HollowRuntime({
      world: { clock: { now: () => this.now, monotonic: () => this.now }, timers },
      isHere: ({ spec }) => spec.nodeName === 'node-1',
      sha256: (text) => `sha(${text})`,
    });
    runtime.observe((uid) => this.changes.push(uid));
    return runtime;
  }

  pass(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const [next] = this.#timers.toSorted((a, b) => a.at - b.at);
      if (next === undefined || next.at > until) break;
      this.#timers.splice(this.#timers.indexOf(next), 1);
      this.now = next.at;
      next.callback();
    }
    this.now = until;
  }

  async start(pod: Stored<Pod>, attempt = 0, name = 'app'): Promise<string> {
    this.runtime.podChanged({ before: undefined, after: pod });
    await this.runtime.startPod({
      uid: 'uid',
      namespace: 'default',
      name: 'web',
      hostname: 'web',
      address: '10.0.0.5',
      hostIpc: false,
      resources: { cpuMilli: undefined, cpuRequestMilli: undefined, memoryBytes: undefined },
      resolvConf: '',
      hosts: '',
    });
    const started = await this.runtime.startContainer({ podUid: 'uid', name, attempt, image: 'nginx' } as ContainerSpec);
    if (!started.ok) throw new Error(started.error.message);
    return started.value.id;
  }

  states(runtime = this.runtime) {
    return runtime.pod('uid')?.runs.map(({ name, attempt, state }) => ({ name, attempt, ...state }));
  }
}

describe('a container of a hollow node', () => {
  test('runs for as long as its script says, and ends with the exit code of its script', async () => {
    const bench = new Bench();
    await bench.start(podOf({ 'mooring.dev/run-for': '5s', 'mooring.dev/exit-code': '3' }));
    bench.pass(4999);
    expect(bench.states()).toMatchObject([{ type: 'running', startedAt: start }]);
    const told = bench.changes.length;
    bench.pass(1);
    expect(bench.states()).toMatchObject([{ type: 'exited', finishedAt: start + 5000, exitCode: 3, reason: 'Error' }]);
    expect(bench.changes.length).toBe(told + 1);
  });

  test('starts at a whole second, as statuses say it', async () => {
    const bench = new Bench();
    bench.pass(1700);
    await bench.start(podOf({ 'mooring.dev/run-for': '1s' }));
    expect(bench.states()).toMatchObject([{ type: 'running', startedAt: start + 1000 }]);
    bench.pass(300);
    expect(bench.states()).toMatchObject([{ type: 'exited', finishedAt: start + 2000 }]);
  });

  test('that is stopped takes its time, but no more than the grace period', async () => {
    for (const [graceMs, end] of [
      [30_000, { finishedAt: start + 10_000, exitCode: 0 }],
      [5_000, { finishedAt: start + 5_000, exitCode: 137 }],
    ] as const) {
      const bench = new Bench();
      const id = await bench.start(podOf({ 'mooring.dev/stop-after': '10s' }));
      void bench.runtime.stopContainer(id, graceMs);
      bench.pass(60_000);
      expect(bench.states()).toMatchObject([end]);
    }
  });

  test('that is stopped again has less time, and does not begin anew', async () => {
    const bench = new Bench();
    const id = await bench.start(podOf({ 'mooring.dev/stop-after': '1h' }));
    void bench.runtime.stopContainer(id, 60_000);
    bench.pass(1000);
    void bench.runtime.stopContainer(id, 5_000);
    bench.pass(60_000);
    expect(bench.states()).toMatchObject([{ finishedAt: start + 6_000, exitCode: 137 }]);
  });

  test('is started and ready when its probes would have succeeded and its script says so', async () => {
    const bench = new Bench();
    const probe = { tcpSocket: { port: 80 }, initialDelaySeconds: 3 };
    const id = await bench.start(podOf({ 'mooring.dev/ready-after': '5s' }, { containers: [container('app', { startupProbe: probe })] }));
    const { health } = bench.runtime.scripted;
    expect(health(id)).toMatchObject({ started: false, ready: false });
    bench.pass(3000);
    expect(health(id)).toMatchObject({ started: true, ready: false });
    bench.pass(2000);
    expect(health(id)).toMatchObject({ started: true, ready: true });
  });

  test('follows annotations that change while it runs', async () => {
    const bench = new Bench();
    const pod = podOf();
    await bench.start(pod);
    bench.pass(10_000);
    bench.runtime.podChanged({ before: pod, after: podOf({ 'mooring.dev/run-for': '15s' }) });
    bench.pass(5_000);
    expect(bench.states()).toMatchObject([{ type: 'exited', finishedAt: start + 15_000 }]);
  });
});

describe('a restarted agent', () => {
  const statusOf = ({ runtime, now }: Bench, pod: Stored<Pod>): PodStatus => {
    const state = runtime.pod('uid');
    const containers = containerRecords({
      pod,
      runs: state?.runs ?? [],
      memory: initialWorkerState,
      health: runtime.scripted.health,
      runtime: 'hollow',
      imageId: (image) => image,
    });
    return podStatus({ pod, state: { sandbox: true, ips: state?.sandbox?.ips ?? [], containers }, hostIp: '1.2.3.4' }, now);
  };

  test('recovers the runs of a pod from its status', async () => {
    const bench = new Bench();
    const pod = podOf({ 'mooring.dev/run-for': '5s', 'mooring.dev/exit-code': '1' });
    await bench.start(pod);
    bench.pass(5000);
    await bench.start(pod, 1);
    bench.pass(1000);
    const status = statusOf(bench, pod);
    const recovered = bench.restart();
    recovered.podChanged({ before: undefined, after: { ...pod, status } });
    expect(recovered.pod('uid')).toEqual(bench.runtime.pod('uid'));
    bench.pass(4000);
    expect(bench.states(recovered)?.at(-1)).toMatchObject({ attempt: 1, type: 'exited', finishedAt: start + 10_000, exitCode: 1 });
  });

  test('finds that a container has ended meanwhile', async () => {
    const bench = new Bench();
    const pod = podOf({ 'mooring.dev/run-for': '5s' });
    await bench.start(pod);
    const status = statusOf(bench, pod);
    const recovered = bench.restart();
    bench.pass(60_000);
    recovered.podChanged({ before: undefined, after: { ...pod, status } });
    expect(bench.states(recovered)).toMatchObject([{ type: 'exited', finishedAt: start + 5000, exitCode: 0 }]);
  });

  test('recovers nothing of a pod that has ended, or whose sandbox was not reported', () => {
    const { runtime } = new Bench();
    runtime.podChanged({ before: undefined, after: podOf({}, {}, { phase: 'Succeeded' }) });
    runtime.podChanged({ before: undefined, after: podOf() });
    expect(runtime.pod('uid')).toBeUndefined();
  });
});
