import type { GaleraCluster } from './galera-cluster.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import type { LoadTarget } from './mixed-load.ts';

/**
 * Starts a gateway at each member of a cluster, which has that member first and the others behind it; `ports` lead to the members.
 * One after the other: `GET_LOCK`, under which they migrate, is of one member.
 */
export async function startGatewaysAtMembers({ contents }: GaleraCluster, ports: readonly number[]) {
  const gateways: GatewayProcess[] = [];
  for (const [index] of ports.entries()) {
    const own = [...ports.slice(index), ...ports.slice(0, index)].map((port) => `127.0.0.1:${port}`);
    gateways.push(await startGatewayProcess(`mysql://root@${own}/petstore`));
  }
  const [first, ...others] = gateways;
  if (!first) throw new Error('A cluster has members.');
  return {
    url: first.url,
    others: others.map(({ url }) => url),
    key: first.key,
    stored: async () => (await contents())[1] ?? [], // the first one may be away
    remove: async () => {
      await Promise.all(gateways.map(({ kill }) => kill()));
    },
  } satisfies LoadTarget & { remove: unknown };
}
