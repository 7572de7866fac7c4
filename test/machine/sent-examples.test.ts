import { beforeAll, describe, expect, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import type { TestGateway } from '../support/gateway.ts';
import { addSamples, SERVICES } from './services.ts';

/** A parameter with its schema, references followed. */
const resolve = (document: any, parameter: any) => ({
  ...parameter,
  schema: document.components.schemas[parameter.schema.$ref?.split('/').at(-1)] ?? parameter.schema,
});

// Swagger UI, Bruno and Postman send the example of a parameter, else its default, before anybody has typed a value.
describe.each(SERVICES)('what tools send by themselves to $name', ({ start }) => {
  let gateway: TestGateway;
  let optional: any[] = [];
  beforeAll(async () => {
    gateway = await start(SQLITE);
    await addSamples(gateway, 30);
    const document = (await gateway.request(`${gateway.service.basePath}/openapi.json`)).json;
    optional = Object.entries<any>(document.paths).flatMap(([path, item]) =>
      Object.entries<any>(item).flatMap(([method, { parameters }]) =>
        parameters
          .filter(({ required }: any) => !required)
          .map((parameter: any) => ({ ...resolve(document, parameter), method, path })),
      ),
    );
  });

  test('is no example of an optional parameter: its description shows the form', () => {
    const shown = optional.filter(({ description }) => /such as `[^`]+`\.$/i.test(description));
    expect(shown.map(({ name }) => name)).toEqual(expect.arrayContaining(['limit', 'after', 'Idempotency-Key']));
    const sent = optional.filter(({ schema, ...parameter }) =>
      [parameter, schema].some((part) => 'example' in part || 'examples' in part),
    );
    expect(sent).toEqual([]);
  });

  test('is a default only where it means what its absence means', async () => {
    const defaults = optional.filter(({ schema }) => schema.default !== undefined);
    expect(defaults.map(({ name }) => name)).toContain('limit');
    for (const { method, path, in: place, name, schema } of defaults) {
      expect({ method, place, path }).toEqual({
        method: 'get',
        place: 'query',
        path: expect.not.stringContaining('{'),
      });
      const address = gateway.service.basePath + path;
      const [without, withDefault] = await Promise.all(
        [address, `${address}?${name}=${schema.default}`].map((sent) => gateway.request(sent)),
      );
      expect(without?.status).toBe(200);
      expect(withDefault?.text).toBe(without?.text);
    }
  });
});
