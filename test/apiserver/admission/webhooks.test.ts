import { describe, expect, test } from 'vitest';
import type { ResourceRequestInfo } from '../../../src/api/request-info.ts';
import { connectOptions } from '../../../src/apiserver/streams/connect-options.ts';
import type { Sent } from '../api-under-test.ts';
import {
  add,
  type Behaviour,
  configure,
  hook,
  type Json,
  map,
  maps,
  merge,
  mutating,
  patchOf,
  rule,
  validating,
  type Webhooks,
  withWebhooks,
} from '../webhooks-under-test.ts';

describe('a validating webhook', () => {
  test(
    'is asked as Kubernetes asks it',
    withWebhooks(async (api, webhooks) => {
      webhooks.behaviours.set('/v', () => ({ allowed: true, warnings: ['mind the gap'], auditAnnotations: { a: 'b' } }));
      await configure(
        api,
        validating,
        'v',
        hook('v', { timeoutSeconds: 5, clientConfig: { url: 'https://hooks.test/v', caBundle: Buffer.from('PEM').toString('base64') } }),
      );
      const created = await api.create(maps, map('x', { a: '1' }), 'fieldManager=me&fieldValidation=Strict');
      expect(created).toMatchObject({ code: 201, warnings: ['mind the gap'] });
      const [{ review, url, call }] = webhooks.calls as [Webhooks['calls'][number]];
      expect(url).toBe('https://hooks.test/v?timeout=5s');
      expect(call).toMatchObject({ trusted: 'PEM', dial: undefined });
      expect(review).toEqual({
        kind: 'AdmissionReview',
        apiVersion: 'admission.k8s.io/v1',
        request: {
          uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
          kind: { group: '', version: 'v1', kind: 'ConfigMap' },
          resource: { group: '', version: 'v1', resource: 'configmaps' },
          requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
          requestResource: { group: '', version: 'v1', resource: 'configmaps' },
          name: 'x',
          namespace: 'default',
          operation: 'CREATE',
          userInfo: { username: 'tester', groups: ['system:masters'] },
          object: expect.objectContaining({ kind: 'ConfigMap', apiVersion: 'v1', data: { a: '1' } }),
          oldObject: null,
          dryRun: false,
          options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me', fieldValidation: 'Strict' },
        },
      });
      expect(review.request.object.metadata).toMatchObject({ name: 'x', namespace: 'default', uid: created.body.metadata.uid });
      await api.send('PATCH', `${maps}/x`, merge({ data: { a: '2' } }));
      expect(webhooks.calls[1]?.review.request).toMatchObject({
        operation: 'UPDATE',
        object: { data: { a: '2' } },
        oldObject: { data: { a: '1' } },
        options: { kind: 'UpdateOptions' },
      });
    }),
  );

  test(
    'is asked about exec and attach, and refuses them',
    withWebhooks(async (api, webhooks) => {
      webhooks.behaviours.set('/v', () => ({ allowed: false, status: { message: 'no shells here' } }));
      await configure(api, validating, 'v', hook('v', { rules: [rule({ operations: ['CONNECT'], resources: ['pods/exec'] })] }));
      const connect = (subresource: string): Promise<void> => {
        const info: ResourceRequestInfo = {
          type: 'resource',
          verb: 'create',
          group: '',
          version: 'v1',
          resource: 'pods',
          subresource,
          namespace: 'default',
          name: 'web',
        };
        const options = connectOptions(info, new URLSearchParams('command=sh&command=-c&stdin=1&stdout=0&container=c'));
        return api.api.admitConnect({ info, user: { name: 'tester', groups: [] }, options });
      };
      await expect(connect('exec')).rejects.toMatchObject({
        code: 400,
        message: 'admission webhook "v.example.com" denied the request: no shells here',
      });
      expect(webhooks.calls[0]?.review.request).toMatchObject({
        kind: { group: '', version: 'v1', kind: 'PodExecOptions' },
        resource: { group: '', version: 'v1', resource: 'pods' },
        subResource: 'exec',
        name: 'web',
        namespace: 'default',
        operation: 'CONNECT',
        object: { kind: 'PodExecOptions', apiVersion: 'v1', stdin: true, container: 'c', command: ['sh', '-c'] },
        options: null,
      });
      await connect('attach');
      expect(webhooks.calls).toHaveLength(1);
    }),
  );

  test(
    'refuses with its own words, code and reason',
    withWebhooks(async (api, webhooks) => {
      const answers: Json[] = [
        { allowed: false },
        { allowed: false, status: { reason: 'NotToday' } },
        { allowed: false, status: { message: 'too red', code: 403, reason: 'Forbidden', details: { causes: [{ field: 'data.color' }] } } },
        { allowed: false, status: { message: 'odd', code: 200 }, warnings: ['also'] },
      ];
      webhooks.behaviours.set('/v', () => answers.shift());
      await configure(api, validating, 'v', hook('v'));
      const denied = async (): Promise<Sent> => api.create(maps, map('x'));
      const by = 'admission webhook "v.example.com" denied the request';
      expect((await denied()).body).toMatchObject({ code: 400, message: `${by} without explanation` });
      expect((await denied()).body).toMatchObject({ code: 400, reason: 'NotToday', message: `${by}: NotToday` });
      expect((await denied()).body).toMatchObject({
        code: 403,
        reason: 'Forbidden',
        message: `${by}: too red`,
        details: { causes: [{ field: 'data.color' }] },
      });
      expect((await denied()).body).toMatchObject({ code: 400, message: `${by}: odd` });
      expect(await api.send('GET', `${maps}/x`)).toMatchObject({ code: 404 });
    }),
  );

  test(
    'of several, all are asked, and the first that refuses is heard',
    withWebhooks(async (api, webhooks) => {
      for (const name of ['a', 'b', 'c']) webhooks.behaviours.set(`/${name}`, () => ({ allowed: name === 'a', status: { message: name } }));
      await configure(api, validating, 'z', hook('c'));
      await configure(api, validating, 'y', hook('a'), hook('b'));
      expect((await api.create(maps, map('x'))).body.message).toBe('admission webhook "b.example.com" denied the request: b');
      expect(webhooks.calls.map(({ path }) => path)).toEqual(['/a', '/b', '/c']);
    }),
  );

  test(
    'is asked about deletions with what is there, and may refuse them',
    withWebhooks(async (api, webhooks) => {
      webhooks.behaviours.set('/v', ({ oldObject, object }) => ({ allowed: object === null && oldObject.data?.locked === undefined }));
      await configure(api, validating, 'v', hook('v', { rules: [rule({ operations: ['DELETE'] })] }));
      for (const name of ['a', 'b']) await api.create(maps, map(name, name === 'a' ? { locked: '' } : {}));
      expect(await api.send('DELETE', `${maps}/a`)).toMatchObject({ code: 400 });
      expect(await api.send('DELETE', `${maps}/b`, { body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' } })).toMatchObject({
        code: 200,
      });
      expect(webhooks.calls[1]?.review.request).toMatchObject({ operation: 'DELETE', options: { kind: 'DeleteOptions', propagationPolicy: 'Background' } });
    }),
  );
});

describe('a webhook that fails', () => {
  const failing: readonly (readonly [why: string, behaviour: Behaviour | undefined, text: string | RegExp])[] = [
    ['connection refused', undefined, 'failed to call webhook: Post "https://hooks.test/v?timeout=10s": dial tcp 10.0.0.1:443: connect: connection refused'],
    ['it answers too late', () => new Promise(() => {}), 'failed to call webhook: Post "https://hooks.test/v?timeout=10s": context deadline exceeded'],
    [
      'it answers 500',
      () => ({ raw: { status: 500, contentType: 'text/plain', body: 'boom\n' } }),
      'failed to call webhook: an error on the server ("boom") has prevented the request from succeeding',
    ],
    ['it answers 404', () => ({ raw: { status: 404, body: '' } }), 'failed to call webhook: the server could not find the requested resource'],
    [
      'it answers a Status',
      () => ({ raw: { status: 403, body: '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"go away"}' } }),
      'failed to call webhook: go away',
    ],
    ['it answers nothing', () => ({ raw: { body: '' } }), 'failed to call webhook: 0-length response with status code: 200 and content type: application/json'],
    [
      'it answers garbage',
      () => ({ raw: { body: 'garbage' } }),
      /^failed to call webhook: couldn't get version\/kind; json parse error: invalid character 'g'/,
    ],
    [
      'it answers a list',
      () => ({ raw: { body: '[]' } }),
      /^failed to call webhook: couldn't get version\/kind; json parse error: json: cannot unmarshal array/,
    ],
    ['there is no response', () => ({ raw: { body: '{}' } }), 'received invalid webhook response: webhook response was absent'],
    ['the uid is another', () => ({ allowed: true, uid: 'x' }), /^received invalid webhook response: expected response.uid="[0-9a-f-]+", got "x"$/],
    [
      'it does not say what it is',
      ({ uid }) => ({ raw: { body: JSON.stringify({ response: { uid, allowed: true } }) } }),
      'received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=',
    ],
    [
      'allowed is no boolean',
      () => ({ allowed: 'yes' }),
      /^failed to call webhook: json: cannot unmarshal string into Go struct field .*allowed of type bool$/,
    ],
    ['the status is none', () => ({ allowed: false, status: { code: 'x', details: { causes: 1 } } }), /^failed to call webhook: json: cannot unmarshal/],
    ['warnings are no list', () => ({ allowed: true, warnings: 'x' }), /warnings of type \[\]string$/],
    ['it patches', () => add('a', 'b'), 'received invalid webhook response: validating webhook may not return response.patch'],
  ];
  test.each(failing)('fails the request, or is ignored: %s', (_, behaviour, text) =>
    withWebhooks(async (api, webhooks) => {
      if (behaviour !== undefined) webhooks.behaviours.set('/v', behaviour);
      await configure(api, validating, 'closed', hook('v'));
      const { body } = await api.create(maps, map('x'));
      const begins = 'Internal error occurred: failed calling webhook "v.example.com": ';
      expect(body).toMatchObject({ code: 500, reason: 'InternalError', message: expect.stringContaining(begins) });
      const why = body.message.slice(begins.length);
      if (typeof text === 'string') expect(why).toBe(text);
      else expect(why).toMatch(text);
      await api.send('DELETE', `${validating}/closed`);
      await configure(api, validating, 'open', hook('v', { failurePolicy: 'Ignore' }));
      expect(await api.create(maps, map('x'))).toMatchObject({ code: 201 });
    })(),
  );

  test(
    'for its patch leaves nothing half done',
    withWebhooks(async (api, webhooks) => {
      const answers: Json[] = [
        { allowed: true, patchType: 'JSONPatch', patch: Buffer.from('{"op":"add"}').toString('base64') },
        { allowed: true, patch: 'W10=' },
        { allowed: true, patchType: 'JSONPatch' },
        { allowed: true, patchType: 'Merge', patch: Buffer.from('[{"op":"add","path":"/data/a","value":"b"}]').toString('base64') },
        patchOf({ op: 'remove', path: '/data/nothing' }),
        patchOf({ op: 'add', path: '/data', value: 'text' }),
        patchOf({ op: 'add', path: '/data/not a key', value: 'text' }),
        patchOf({ op: 'replace', path: '/metadata/namespace', value: 'kube-system' }),
        patchOf({ op: 'replace', path: '', value: [] }),
        patchOf({ op: 'replace', path: '/kind', value: 'Secret' }),
      ];
      webhooks.behaviours.set('/m', () => answers.shift());
      await configure(api, mutating, 'm', hook('m'));
      const said: string[] = [];
      while (answers.length > 0) said.push((await api.create(maps, map('x', { a: '' }))).body.message);
      expect(said).toEqual([
        expect.stringContaining('failed calling webhook "m.example.com": received undecodable patch in webhook response: json: cannot unmarshal object'),
        expect.stringContaining('received invalid webhook response: webhook returned response.patch but not response.patchType'),
        expect.stringContaining('received invalid webhook response: webhook returned response.patchType but not response.patch'),
        expect.stringContaining('failed calling webhook "m.example.com": unsupported patch type "Merge"'),
        expect.stringContaining('Internal error occurred: Unable to remove nonexistent key: nothing: missing value'),
        'Internal error occurred: json: cannot unmarshal string into Go struct field ConfigMap.data of type map[string]string',
        expect.stringContaining('ConfigMap "x" is invalid: data[not a key]: Invalid value'),
        'the namespace of the provided object does not match the namespace sent on the request',
        'Internal error occurred: the object would no longer be one',
        'Internal error occurred: an object of v1 ConfigMap cannot become one of v1 Secret',
      ]);
      expect(await api.send('GET', `${maps}/x`)).toMatchObject({ code: 404 });
      expect(await api.send('GET', '/api/v1/namespaces/kube-system/configmaps/x')).toMatchObject({ code: 404 });
    }),
  );
});

describe('a mutating webhook', () => {
  test(
    'changes what is stored, and those after it see that',
    withWebhooks(async (api, webhooks) => {
      webhooks.behaviours.set('/a', () => add('a', '1'));
      webhooks.behaviours.set('/b', ({ object }) => add('b', `after ${object.data.a}`));
      webhooks.behaviours.set('/v', ({ object }) => ({ allowed: object.data.b === 'after 1' }));
      await configure(api, mutating, 'm', hook('a'), hook('b'));
      await configure(api, validating, 'v', hook('v'));
      const { body } = await api.create(maps, map('x', { own: 'y' }));
      expect(body.data).toEqual({ own: 'y', a: '1', b: 'after 1' });
      expect((await api.send('GET', `${maps}/x`)).body.data).toEqual(body.data);
      // Of an update as well.
      const changed = await api.send('PATCH', `${maps}/x`, merge({ data: { own: 'z', a: 'other' } }));
      expect(changed.body.data).toEqual({ own: 'z', a: '1', b: 'after 1' });
      expect((await api.send('GET', `${maps}/x`)).body.data).toEqual(changed.body.data);
    }),
  );

  test(
    'with reinvocationPolicy IfNeeded is called again, once, if the object changed after it',
    withWebhooks(async (api, webhooks) => {
      const count = ({ object }: Json) => add('count', String(Number(object.data.count ?? '0') + 1));
      for (const path of ['/again', '/once', '/idle']) webhooks.behaviours.set(path, path === '/idle' ? () => ({ allowed: true }) : count);
      await configure(api, mutating, 'm', hook('again', { reinvocationPolicy: 'IfNeeded' }), hook('once'), hook('idle', { reinvocationPolicy: 'IfNeeded' }));
      expect((await api.create(maps, map('x', { a: '' }))).body.data.count).toBe('3');
      // 'idle' came last: only 'again', in the second round, changed the object after it.
      expect(webhooks.calls.map(({ path }) => path)).toEqual(['/again', '/once', '/idle', '/again', '/idle']);
    }),
  );

  test(
    'that changes nothing causes no reinvocation',
    withWebhooks(async (api, webhooks) => {
      webhooks.behaviours.set('/a', () => patchOf({ op: 'replace', path: '/data/own', value: 'y' }));
      await configure(api, mutating, 'm', hook('a', { reinvocationPolicy: 'IfNeeded' }));
      await api.create(maps, map('x', { own: 'y' }));
      expect(webhooks.calls).toHaveLength(1);
    }),
  );

  test(
    'comes after what the server itself fills in, which has another look afterwards',
    withWebhooks(async (api, webhooks) => {
      const pods = '/api/v1/namespaces/default/pods';
      const container = { name: 'c', image: 'i' };
      webhooks.behaviours.set('/p', ({ object }) =>
        patchOf(
          { op: 'test', path: '/spec/serviceAccountName', value: 'default' },
          { op: 'add', path: '/spec/containers/-', value: { name: 'side', image: object.spec.containers[0].image } },
        ),
      );
      await configure(api, mutating, 'm', hook('p', { rules: [rule({ resources: ['pods'] })] }));
      await api.create('/api/v1/namespaces/default/limitranges', {
        metadata: { name: 'l' },
        spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '1' } }] },
      });
      const { body } = await api.create(pods, { metadata: { name: 'p' }, spec: { containers: [container] } });
      expect(body.spec.containers.map(({ name, resources, terminationMessagePath }: Json) => [name, resources.requests.cpu, terminationMessagePath])).toEqual([
        ['c', '1', '/dev/termination-log'],
        ['side', '1', '/dev/termination-log'],
      ]);
    }),
  );

  test(
    'cannot rename what is there',
    withWebhooks(async (api, webhooks) => {
      await api.create(maps, map('x'));
      webhooks.behaviours.set('/m', () => patchOf({ op: 'replace', path: '/metadata/name', value: 'y' }));
      await configure(api, mutating, 'm', hook('m'));
      expect(await api.send('PATCH', `${maps}/x`, merge({ data: { a: 'b' } }))).toMatchObject({ code: 422 });
      expect(await api.send('GET', `${maps}/y`)).toMatchObject({ code: 404 });
    }),
  );
});
