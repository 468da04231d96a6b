import { readdirSync, readFileSync } from 'node:fs';
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { Metrics, type Sample } from './metrics.ts';

let metrics: Metrics | undefined;

/** Memory, processor time, event loop and garbage collection of this process, under the names of prom-client. Observed from the first call on. */
export function processMetrics(): string {
  metrics ??= observeProcess();
  return metrics.text();
}

function observeProcess(): Metrics {
  const observed = new Metrics();
  addProcess(observed);
  addEventLoop(observed);
  addHeap(observed);
  addGarbageCollection(observed);
  observed.gauge('nodejs_version_info', 'Node.js version', () => [{ labels: { version: process.version }, value: 1 }]);
  return observed;
}

function addProcess(observed: Metrics): void {
  const cpu = (which: 'user' | 'system'): number => process.cpuUsage()[which] / 1e6;
  const started = Math.round(performance.timeOrigin / 1000);
  observed.counterOf('process_cpu_user_seconds_total', 'User CPU time in seconds', () => cpu('user'));
  observed.counterOf('process_cpu_system_seconds_total', 'System CPU time in seconds', () => cpu('system'));
  observed.counterOf('process_cpu_seconds_total', 'User and system CPU time in seconds', () => cpu('user') + cpu('system'));
  observed.gauge('process_start_time_seconds', 'Start time of the process in seconds since 1970', () => started);
  observed.gauge('process_resident_memory_bytes', 'Resident memory in bytes', () => process.memoryUsage.rss());
  if (process.platform !== 'linux') return;
  const status = (field: string): number => fieldOf('/proc/self/status', new RegExp(`^${field}:\\s+(\\d+)`, 'm')) * 1024;
  const maxFiles = fieldOf('/proc/self/limits', /^Max open files\s+(\d+)/m);
  observed.gauge('process_virtual_memory_bytes', 'Virtual memory in bytes', () => status('VmSize'));
  observed.gauge('process_heap_bytes', 'Heap of the process in bytes', () => status('VmData'));
  observed.gauge('process_open_fds', 'Open file descriptors', () => readdirSync('/proc/self/fd').length - 1);
  observed.gauge('process_max_fds', 'File descriptors that may be open', () => maxFiles);
}

const fieldOf = (file: string, pattern: RegExp): number => Number(pattern.exec(readFileSync(file, 'utf8'))?.[1] ?? 0);

/** Since the last time that they were read. */
function addEventLoop(observed: Metrics): void {
  const lag = monitorEventLoopDelay({ resolution: 10 });
  lag.enable();
  const gauge = (name: string, help: string, read: () => number): void =>
    observed.gauge(`nodejs_eventloop_lag_${name}seconds`, `Lag of the event loop in seconds: ${help}`, () => read() / 1e9 || 0);
  gauge('min_', 'minimum', () => lag.min);
  gauge('max_', 'maximum', () => lag.max);
  gauge('mean_', 'mean', () => lag.mean);
  gauge('stddev_', 'standard deviation', () => lag.stddev);
  for (const percentile of [50, 90, 99]) gauge(`p${percentile}_`, `${percentile}th percentile`, () => lag.percentile(percentile));
  gauge('', 'the latest', () => {
    const latest = lag.percentile(100);
    lag.reset();
    return latest;
  });
}

function addHeap(observed: Metrics): void {
  observed.gauge('nodejs_heap_size_total_bytes', 'Heap of Node.js in bytes', () => process.memoryUsage().heapTotal);
  observed.gauge('nodejs_heap_size_used_bytes', 'Heap of Node.js in use, in bytes', () => process.memoryUsage().heapUsed);
  observed.gauge('nodejs_external_memory_bytes', 'Memory of Node.js outside of its heap, in bytes', () => process.memoryUsage().external);
  const spaces = (field: 'space_size' | 'space_used_size' | 'space_available_size') => (): readonly Sample[] =>
    getHeapSpaceStatistics().map((space) => ({ labels: { space: space.space_name.replace('_space', '') }, value: space[field] }));
  observed.gauge('nodejs_heap_space_size_total_bytes', 'Size of a heap space in bytes', spaces('space_size'));
  observed.gauge('nodejs_heap_space_size_used_bytes', 'Used size of a heap space in bytes', spaces('space_used_size'));
  observed.gauge('nodejs_heap_space_size_available_bytes', 'Available size of a heap space in bytes', spaces('space_available_size'));
}

const gcKinds: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
};

function addGarbageCollection(observed: Metrics): void {
  const durations = observed.histogram('nodejs_gc_duration_seconds', 'Duration of a garbage collection in seconds', {
    labelNames: ['kind'],
    bounds: [0.001, 0.01, 0.1, 1, 2, 5],
  });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { kind } = (entry as typeof entry & { readonly detail: { readonly kind: number } }).detail;
      durations.observe(entry.duration / 1000, gcKinds[kind] ?? 'other');
    }
  });
  observer.observe({ entryTypes: ['gc'] });
}
