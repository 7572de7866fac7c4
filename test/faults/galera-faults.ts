import type { Fault } from './fault-run.ts';
import type { GaleraCluster } from './galera-cluster.ts';

/** What a cluster may do to us. */
export const GALERA_FAULTS = [
  {
    name: 'all nodes refuse (1047) for 1 s',
    fault: (cluster: GaleraCluster): Fault => ({ strike: () => cluster.refuseFor(1000) }),
  },
  {
    name: 'one of three nodes killed -9, rejoined',
    // It heals without the node that is away, and must stay healed when it comes back.
    fault: ({ kill, rejoin }: GaleraCluster): Fault => ({ strike: () => kill(0), afterwards: () => rejoin(0) }),
  },
];
