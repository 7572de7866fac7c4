import type { Fault } from './fault-run.ts';
import type { GroupCluster } from './group-cluster.ts';

/** What a group may do to us; each begins where the one before it ended. */
export interface GroupFault {
  readonly name: string;
  /** Where the primary stands in DATABASE_URL. */
  readonly primary: 'first' | 'last';
  fault(cluster: GroupCluster): Fault;
}

export const GROUP_FAULTS: readonly GroupFault[] = [
  {
    name: 'primary killed -9, another elected',
    primary: 'first',
    fault: (cluster) => ({ strike: cluster.killPrimary }),
  },
  { name: 'the killed member joins again', primary: 'first', fault: (cluster) => ({ strike: cluster.joinAgain }) },
  {
    name: 'the primary named last, killed -9',
    primary: 'last',
    fault: (cluster) => ({ strike: cluster.killPrimary }),
  },
];
