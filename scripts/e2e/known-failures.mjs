// Specs of e2e.test that fail, each with its reason. One that passes is no longer known to fail: take it off this list.

/** A part of the spec's name, and why it fails. */
export const knownFailures = [
  {
    spec: 'Daemon set [Serial] should rollback without unnecessary restarts',
    reason: 'the spec needs two nodes that pods can be scheduled to, and this cluster has one',
  },
];

export const reasonOf = (name) => knownFailures.find(({ spec }) => name.includes(spec))?.reason;
