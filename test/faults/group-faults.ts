import type { GroupCluster } from './group-cluster.ts';

/** What a group may do to us, by where its primary stands in DATABASE_URL; each begins where the one before it ended. */
export const GROUP_FAULTS = [
  { name: 'primary killed -9, another elected', primary: 'first', strike: 'killPrimary' },
  { name: 'the killed member joins again', primary: 'first', strike: 'joinAgain' },
  { name: 'the primary named last, killed -9', primary: 'last', strike: 'killPrimary' },
] as const satisfies { name: string; primary: 'first' | 'last'; strike: keyof GroupCluster }[];
