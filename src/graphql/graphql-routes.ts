import { OperationTypeNode } from 'graphql';
import type { Service } from '../service.ts';
import type { Route } from '../web/route.ts';
import { createGraphqlEndpoint, GRAPHQL_PATH, type GraphqlSettings } from './endpoint.ts';

/**
 * The routes of GraphQL over HTTP, and what its requests may be called in log and metrics. Whether a request changes something,
 * its document says.
 */
export function createGraphqlRoutes(
  settings: Omit<GraphqlSettings, 'deprecations' | 'things'> & { readonly service: Service },
): { routes: readonly Route[]; operations: readonly string[] } {
  const { deprecations, things } = settings.service;
  const handle = createGraphqlEndpoint({ ...settings, deprecations, things });
  const common = { path: GRAPHQL_PATH, changes: false, isDeprecated: false, handle };
  return {
    routes: [
      { ...common, methods: ['GET'], takesBody: false },
      { ...common, methods: ['POST'], takesBody: true },
    ],
    operations: Object.values(OperationTypeNode),
  };
}
