/** `mooring/testing`: a cluster inside a test, on virtual time. docs/LIBRARY.md has the whole of it. */
export { ApiError } from '../api/status.ts';
export type { Patch } from '../client/client.ts';
export { PhraseError } from '../sim/scenario/language/phrase.ts';
export type { Failure } from './failures.ts';
export { type ClusterFixtureOptions, type ClusterInTests, type TestHooks, useCluster, vitestFixtures, type VitestFixtures } from './fixtures.ts';
export type { AnyObject, KindTypes, ObjectFor, ObjectOfKind, ObjectRef } from './kind-types.ts';
export { ManifestError } from './manifests.ts';
export type { ObjectEvent, ObjectWatch } from './object-watch.ts';
export { QuietError, type QuietOptions } from './quiet.ts';
export { type SelectOptions, TestClient, type WaitOptions } from './test-client.ts';
export { ClusterSnapshot, ClusterTime, type InjectedFailure, startTestCluster, TestCluster, type TestClusterOptions, TestNamespace } from './test-cluster.ts';
export { WaitError } from './wait.ts';
