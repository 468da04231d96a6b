/** What node-driver-registrar does, for machines that do not have it: a registration socket for a driver. */
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Registration } from '../../src/grpc/generated/pluginregistration.ts';
import { GrpcServer } from '../../src/grpc/http2-server.ts';
import { handlersOf } from '../../src/grpc/service.ts';

export interface Registrar {
  /** What the node said: '' for a driver that it registered, else why it did not. */
  readonly answers: readonly string[];
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startRegistrar(nodeRoot: string, name: string, endpoint: string): Promise<Registrar> {
  const folder = path.join(nodeRoot, 'plugins_registry');
  mkdirSync(folder, { recursive: true });
  const socket = path.join(folder, `${name}-reg.sock`);
  const answers: string[] = [];
  const server = new GrpcServer(
    handlersOf(Registration, {
      getInfo: () => Promise.resolve({ type: 'CSIPlugin', name, endpoint, supportedVersions: ['1.0.0'] }),
      notifyRegistrationStatus: ({ pluginRegistered, error }) => {
        answers.push(pluginRegistered ? '' : error);
        return Promise.resolve({});
      },
    }),
  );
  await server.listen(`unix://${socket}`);
  return {
    answers,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      rmSync(socket, { force: true });
    },
  };
}
