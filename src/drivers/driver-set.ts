import type { PersistentVolumeSource } from '../api/generated/types.ts';
import type { CreateOutcome, DeleteOutcome, DriverFacts } from '../domain/volumes/driver-facts.ts';
import { type AttemptFailure, type CreateIntentSpec, type IntentOf, volumeNameOf } from '../domain/volumes/intent.ts';
import { type DriverAnswer, type DriverFailure, failed, isFinal, type VolumeDriver } from './contract.ts';

/** The drivers of this process, by name, as controllers see them. No call rejects, whatever a driver does. */
export class DriverSet {
  readonly #drivers: ReadonlyMap<string, VolumeDriver>;

  constructor(drivers: readonly VolumeDriver[]) {
    this.#drivers = new Map(drivers.map((driver) => [driver.facts.name, driver]));
  }

  all(): Iterable<VolumeDriver> {
    return this.#drivers.values();
  }

  readonly facts = (name: string): DriverFacts | undefined => this.#drivers.get(name)?.facts;

  readonly create = async (intent: IntentOf<CreateIntentSpec>): Promise<CreateOutcome> => {
    const { driver, request } = intent.spec;
    const answer = await this.#ask(driver, (asked) => asked.create({ ...request, name: volumeNameOf(intent) }));
    return answer.ok ? { type: 'created', asset: answer.value } : { type: 'failed', ...failureOf(answer) };
  };

  readonly delete = async (driver: string, { handle }: { readonly handle: string }): Promise<DeleteOutcome> =>
    deletion(await this.#ask(driver, (asked) => asked.delete(handle)));

  readonly deleteSource = async (driver: string, source: PersistentVolumeSource): Promise<DeleteOutcome> =>
    deletion(
      await this.#ask(driver, async (asked) => {
        const handle = asked.handleOf(source);
        return handle === undefined ? failed('InvalidArgument', `the volume is none of ${driver}`) : asked.delete(handle);
      }),
    );

  async #ask<T>(name: string, call: (driver: VolumeDriver) => Promise<DriverAnswer<T>>): Promise<DriverAnswer<T>> {
    const driver = this.#drivers.get(name);
    // An intent outlives the process that wrote it, which may have had drivers that this one has not. What it asked for may exist.
    if (driver === undefined) return failed('Unavailable', `no driver ${name} in this process`);
    try {
      return await call(driver);
    } catch (error) {
      return failed('Unknown', error instanceof Error ? error.message : String(error));
    }
  }
}

const deletion = (answer: DriverAnswer<undefined>): DeleteOutcome =>
  answer.ok
    ? { type: 'deleted' }
    : // CSI's word for an asset that somebody still uses.
      { type: 'failed', ...failureOf(answer), ...(answer.code === 'FailedPrecondition' ? { inUse: true } : {}) };

const failureOf = ({ code, message }: DriverFailure): AttemptFailure => ({ message, final: isFinal(code) });
