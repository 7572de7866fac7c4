import type { Fault } from './fault-run.ts';
import type { GaleraCluster } from './galera-cluster.ts';

/** What a cluster may do to us. */
export interface GaleraFault {
  readonly name: string;
  fault(cluster: GaleraCluster): Fault;
}

export const GALERA_FAULTS: readonly GaleraFault[] = [
  {
    name: 'all nodes refuse (1047) for 1 s',
    fault: (cluster) => ({ strike: () => cluster.refuseFor(1000) }),
  },
  {
    name: 'one of three nodes killed -9, rejoined',
    // It heals without the node that is away, and must stay healed when it comes back.
    fault: (cluster) => ({ strike: () => cluster.kill(0), afterwards: () => cluster.rejoin(0) }),
  },
];
