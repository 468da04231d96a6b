import { isJsonObject, JsonError, JsonReader, jsonTypeOf } from '../../api/json-reader.ts';
import type { Programs } from '../../world/programs.ts';
import { type DriverAnswer, type DriverFailure, failed, succeeded } from '../contract.ts';

export type FlexCommand =
  | 'init'
  | 'getvolumename'
  | 'attach'
  | 'detach'
  | 'waitforattach'
  | 'isattached'
  | 'mountdevice'
  | 'unmountdevice'
  | 'mount'
  | 'unmount';

/** The response of a successful command. */
export interface FlexStatus {
  readonly device: string;
  readonly attached: boolean;
  readonly capabilities: FlexCapabilities;
}

export interface FlexCapabilities {
  readonly attach: boolean;
  readonly fsGroup: boolean;
}

const callMs = 120_000;
/** Devices may take long to appear. */
const waitForAttachMs = 600_000;

/** A driver's executable: started for each call with the command as first argument, it responds with JSON. */
export class FlexExecutable {
  readonly #path: string;
  readonly #programs: Programs;
  /** Commands with a 'Not supported' response. */
  readonly #unsupported = new Set<FlexCommand>();

  constructor(path: string, programs: Programs) {
    this.#path = path;
    this.#programs = programs;
  }

  /** Undefined: not supported; the caller applies the default. */
  async call(command: FlexCommand, args: readonly string[]): Promise<DriverAnswer<FlexStatus> | undefined> {
    if (this.#unsupported.has(command)) return undefined;
    const timeoutMs = command === 'waitforattach' ? waitForAttachMs : callMs;
    const end = await this.#programs.run(this.#path, [command, ...args], { timeoutMs });
    if (end.type === 'timeout') return failed('DeadlineExceeded', 'timeout');
    if (end.type === 'failed') return failed('Internal', end.message);
    const answer = statusOf(command, end.output);
    if (answer === undefined) this.#unsupported.add(command);
    // Some drivers report Success although they exit with an error.
    return end.code !== 0 && answer?.ok === true ? failed('Internal', `exit status ${end.code}`) : answer;
  }
}

function statusOf(command: FlexCommand, output: string): DriverAnswer<FlexStatus> | undefined {
  const said = fieldsIn(output);
  if (!said.ok) return said;
  const { status = '', message = '', device = '', attached = false, capabilities } = said.value;
  const wrong = [wrongType('status', status, 'string'), wrongType('message', message, 'string'), wrongType('device', device, 'string')];
  const first = [...wrong, wrongType('attached', attached, 'bool')].find((each) => each !== undefined);
  if (first !== undefined) return first;
  if (status === 'Not supported') return undefined;
  if (status !== 'Success') return failed('Internal', `${command} command failed, status: ${String(status)}, reason: ${String(message)}`);
  return succeeded({ device: String(device), attached: attached === true, capabilities: capabilitiesIn(capabilities) });
}

/** As Go's encoding/json: field names in any case, null is absent. */
function fieldsIn(output: string): DriverAnswer<Readonly<Record<string, unknown>>> {
  try {
    const { value } = new JsonReader(output).read();
    if (value === null) return succeeded({});
    if (!isJsonObject(value)) return failed('Internal', `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type flexvolume.DriverStatus`);
    return succeeded(lowerCased(value));
  } catch (error) {
    if (error instanceof JsonError) return failed('Internal', error.message);
    throw error;
  }
}

const lowerCased = (value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(value).flatMap(([key, each]) => (each === null ? [] : [[key.toLowerCase(), each]])));

function wrongType(field: string, value: unknown, type: 'string' | 'bool'): DriverFailure | undefined {
  if (typeof value === (type === 'bool' ? 'boolean' : type)) return undefined;
  return failed('Internal', `json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field DriverStatus.${field} of type ${type}`);
}

/** Capabilities default to true. */
function capabilitiesIn(said: unknown): FlexCapabilities {
  const { attach = true, fsgroup = true } = isJsonObject(said) ? lowerCased(said) : {};
  return { attach: attach === true, fsGroup: fsgroup === true };
}
