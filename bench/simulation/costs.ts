import type { ScaleResults } from '../scale-report.ts';
import { table } from '../tables.ts';
import type { StatementKind } from './database.ts';
import type { Costs } from './system.ts';

/** What the simulation takes from a run of scale.ts. Times are in ms. */
export interface Calibration {
  readonly costs: Readonly<Record<StatementKind, Costs>>;
  /** CPU of the load generator, for each request. */
  readonly clientMs: number;
  /** What a get on one connection takes beside CPU: the ways and the waking of processes. */
  readonly waysMs: number;
  readonly flushMs: number;
}

const OPERATION = { list: 'list 20', get: 'get', create: 'create' } as const;

/**
 * Splits what was measured at several numbers of connections: a request costs something by itself, and its part of a statement. The more
 * connections, the fewer statements for each request.
 */
export function calibrate(scale: Pick<ScaleResults, 'operations'>, engine: string): Calibration {
  const rowsOf = (kind: StatementKind) => measured(scale, engine, kind);
  const alone = (kind: StatementKind) => {
    const found = rowsOf(kind).find(({ connections }) => connections === 1);
    if (!found) throw new Error(`scale.json has no ${kind} of ${engine} on one connection.`);
    return found;
  };
  const costsOf = (kind: StatementKind): Costs => {
    const rows = rowsOf(kind);
    const gateway = fitLine(rows.map((row) => [row.statements, row.gatewayCpuMs]));
    const database = fitLine(rows.map((row) => [row.statements, row.databaseCpuMs]));
    return {
      requestMs: gateway.base,
      gatewayMs: gateway.slope,
      databaseMs: database.slope,
      databaseEachMs: database.base,
    };
  };
  const beside = (kind: StatementKind): number => {
    const { p50Ms, gatewayCpuMs, databaseCpuMs, clientCpuMs } = alone(kind);
    return Math.max(0, p50Ms - gatewayCpuMs - databaseCpuMs - clientCpuMs);
  };
  return {
    costs: { list: costsOf('list'), get: costsOf('get'), create: costsOf('create') },
    clientMs: alone('get').clientCpuMs,
    waysMs: beside('get'),
    flushMs: Math.max(0, beside('create') - beside('get')),
  };
}

function measured({ operations }: Pick<ScaleResults, 'operations'>, engine: string, kind: StatementKind) {
  return operations.filter((one) => one.engine === engine && one.operation === OPERATION[kind]);
}

/** What was measured at each number of connections, and what the line says there. */
export function costsTable(scale: ScaleResults, costs: Calibration['costs'], engine: string): string {
  const rows = (['list', 'get', 'create'] as const).flatMap((kind) => {
    const { requestMs, gatewayMs, databaseMs, databaseEachMs } = costs[kind];
    return measured(scale, engine, kind).map(({ connections, statements, gatewayCpuMs, databaseCpuMs }) => [
      kind,
      String(connections),
      statements.toFixed(2),
      gatewayCpuMs.toFixed(3),
      (requestMs + statements * gatewayMs).toFixed(3),
      databaseCpuMs.toFixed(3),
      (databaseEachMs + statements * databaseMs).toFixed(3),
    ]);
  });
  return table(['operation', 'c', 'statements', 'gateway', 'simulated', 'database', 'simulated'], rows);
}

/** Costs where a core is slower by this factor. */
export function timesCosts(costs: Calibration['costs'], factor: number): Calibration['costs'] {
  const times = ({ requestMs, gatewayMs, databaseMs, databaseEachMs }: Costs): Costs => ({
    requestMs: requestMs * factor,
    gatewayMs: gatewayMs * factor,
    databaseMs: databaseMs * factor,
    databaseEachMs: databaseEachMs * factor,
  });
  return { list: times(costs.list), get: times(costs.get), create: times(costs.create) };
}

/** The line of least squares through points, neither part of it negative. */
export function fitLine(points: readonly (readonly [x: number, y: number])[]): { base: number; slope: number } {
  const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const common = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const slope = Math.min(Math.max(0, spread === 0 ? 0 : common / spread), meanX === 0 ? 0 : meanY / meanX);
  return { base: meanY - slope * meanX, slope };
}
