/** Bugs that etcd had, by the number of their issue at etcd-io/etcd. */
export interface EtcdBugs {
  /** Answers to progress requests overtake events (#15220). */
  readonly progressBeforeEvents?: boolean;
  /** A watch begins with events from before its start (#15271), also one that starts in the future (#20221). */
  readonly eventsFromThePast?: boolean;
  /** A watch that starts at the compacted revision lacks the deletions of that revision (#18089, #19179). */
  readonly noDeletesAtCompaction?: boolean;
  /** Of a stream with a slow reader, events get lost (#17529): each with this probability. */
  readonly lostEvents?: number;
  /** A member that was paused answers linearizable reads with a revision that is so many behind (#20418). */
  readonly staleReads?: number;
}
