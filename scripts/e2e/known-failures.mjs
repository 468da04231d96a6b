// Specs of e2e.test that fail, each with its reason. One that passes is no longer known to fail: take it off this list.

/** A part of the spec's name, and why it fails. */
export const knownFailures = [];

export const reasonOf = (name) => knownFailures.find(({ spec }) => name.includes(spec))?.reason;
