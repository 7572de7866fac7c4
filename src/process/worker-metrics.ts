import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';

const REQUEST = 'petstore:metrics';

interface MetricsMessage {
  readonly type: typeof REQUEST;
  readonly id: number;
  readonly page?: string;
}

/** Lets the primary read this process's meters, by prom-client's own messages. */
export function shareMetrics(registry: Registry): void {
  if (!cluster.isWorker) return;
  new AggregatorRegistry(); // its making starts the listening, in a worker
  AggregatorRegistry.setRegistries([registry]);
}

/** In the primary: answers workers that ask for the metrics of all of them. */
export function answerMetricsRequests(): void {
  const aggregator = new AggregatorRegistry();
  cluster.on('message', async (worker: Worker, message: MetricsMessage) => {
    if (message?.type !== REQUEST) return;
    const page = await aggregator.clusterMetrics().catch((error: Error) => `# ${error.message}\n`);
    if (worker.isConnected()) worker.send({ ...message, page });
  });
}

let lastId = 0;

/** In a worker: the metrics of all workers, added up by the primary. */
export function metricsOfAllWorkers(): Promise<string> {
  const id = ++lastId;
  return new Promise((resolve) => {
    const take = (message: MetricsMessage) => {
      if (message?.type !== REQUEST || message.id !== id) return;
      process.off('message', take);
      resolve(message.page ?? '');
    };
    process.on('message', take);
    process.send?.({ type: REQUEST, id } satisfies MetricsMessage);
  });
}
