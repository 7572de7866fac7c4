import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { buildSchema } from 'graphql';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { sumMetric } from '../support/load.ts';
import { useLibrary } from './library-gateway.ts';

const DEPRECATION = {
  deprecation: '@1801440000',
  sunset: 'Wed, 09 Jul 2031 00:00:00 GMT',
  link: '</api/v2/books>; rel="successor-version", </docs#deprecations>; rel="deprecation"; type="text/html"',
};

describe('the library describes itself', () => {
  const library = useLibrary(SQLITE, {}, async ({ addBook, call }) => {
    const { id } = await addBook({ title: 'Emma: A Novel', pages: 474, language: 'en' });
    await call('PUT', `/books/${id}/loan`, { body: { reader: 'Ann' } });
  });

  describe('in OpenAPI', () => {
    let source: string;
    let document: any;
    beforeAll(async () => {
      source = (await library.call('GET', '/openapi.json', { key: null })).text;
      document = JSON.parse(source);
    });

    test('without a finding under the recommended rules of Redocly', async () => {
      const config = await createConfig({ extends: ['recommended'] });
      const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
      expect(problems.map(({ ruleId, severity, message }) => `${severity} ${ruleId}: ${message}`)).toEqual([]);
    });

    it.each([
      ['/books/{bookId}', 'patch', 'updateBook', [200, 400, 401, 403, 404, 413, 415, 429, 500, 503]],
      ['/books/{bookId}', 'delete', 'removeBook', [204, 401, 403, 404, 429, 500, 503]],
      ['/books/{bookId}/loan', 'put', 'lendBook', [200, 400, 401, 403, 404, 413, 415, 429, 500, 503]],
      ['/books/{bookId}/loan', 'delete', 'returnBook', [204, 401, 403, 404, 429, 500, 503]],
    ])('%s %s is %s, with all of its answers', (path, method, operationId, statuses) => {
      const operation = document.paths[path][method];
      expect(operation.operationId).toBe(operationId);
      expect(Object.keys(operation.responses).map(Number)).toEqual(statuses);
    });

    test('PUT takes a body, DELETE none, and 204 has no content', () => {
      const { put, delete: remove } = document.paths['/books/{bookId}/loan'];
      expect(put.requestBody.content['application/json'].schema).toEqual({ $ref: '#/components/schemas/LoanInput' });
      expect(remove).not.toHaveProperty('requestBody');
      expect(remove.responses[204]).not.toHaveProperty('content');
    });

    test('only what may still change says so, and only what touches the deprecated field is deprecated', () => {
      const operations: any[] = Object.values(document.paths).flatMap((item: any) => Object.values(item));
      const named = (key: string) => operations.filter((one) => key in one).map((one) => [one.operationId, one[key]]);
      expect(named('x-stability')).toEqual([
        ['getBook', 'experimental'],
        ['updateBook', 'beta'],
      ]);
      expect(named('deprecated')).toEqual([['getTitle', true]]);
      expect(named('x-deprecated-sunset')).toEqual([['getTitle', '2031-07-09']]);
    });

    test('each form of a book has a schema of its own; what is within is there as well', () => {
      const { schemas } = document.components;
      const names =
        'Author Authors Book BookChangesInput Books Error Genre Loan LoanInput NewAuthor NewBook Shelf Title';
      expect(Object.keys(schemas).sort()).toEqual([...names.split(' '), 'WholeBook']);
      expect(schemas.Book.required).toEqual(['id', 'title', 'genre', 'author']);
      expect(schemas.WholeBook.required).toEqual(['id', 'title', 'author', 'shelf']);
      expect(schemas.Shelf.required).toEqual(['row', 'place']);
      expect(schemas.NewBook.properties.pages).toMatchObject({ type: 'integer', minimum: 1, maximum: 9999 });
      expect(schemas.LoanInput.properties.reader).toMatchObject({ minLength: 1, maxLength: 100 });
    });

    it.each([
      ['GET', '/books', '/books', 200],
      ['GET', '/books/1', '/books/{bookId}', 200],
    ])('%s %s gives what is said of %s: %i', async (method, path, place, status) => {
      const answer = await library.call(method, path);
      expect(answer.status).toBe(status);
      const response = document.paths[place][method.toLowerCase()].responses[status];
      const { schema } = response.content['application/json'];
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      const validate = ajv.compile({ ...schema, components: document.components });
      expect([validate(answer.json), validate.errors]).toEqual([true, null]);
    });
  });

  test('in GraphQL, with the deprecation', async () => {
    const { text } = await library.request('/schema.graphql');
    expect(buildSchema(text).getMutationType()?.getFields()).toHaveProperty('lendBook');
    const reason = 'Scheduled for removal on 9 July 2031; use Book.title instead.';
    expect(text.match(/@deprecated.*/g)).toEqual([`@deprecated(reason: "${reason}")`]);
    expect(text).toContain('subtitle: String @deprecated');
    expect(text).toContain('Reading books.');
  });

  test.each([
    ['/books/1/title', DEPRECATION],
    ['/books', { deprecation: null, sunset: null, link: null }],
  ])('%s says whether it is deprecated', async (path, expected) => {
    const { headers } = await library.call('GET', path);
    expect(Object.fromEntries(Object.keys(DEPRECATION).map((name) => [name, headers.get(name)]))).toEqual(expected);
  });

  test('each use of what is deprecated is counted under its name, of nothing else', async () => {
    const { call, query } = library;
    const uses = () => library.metrics.registry.getSingleMetricAsString('deprecated_use_total');
    const read = async (...labels: string[]) => sumMetric(await uses(), 'deprecated_use_total', ...labels);
    const before = [await read('"getTitle"'), await read('"Book.subtitle"'), await read()];
    await call('GET', '/books/1/title');
    await query('{ books { id subtitle } }');
    await query('{ books { id title } }');
    await call('GET', '/books/1');
    const after = [await read('"getTitle"'), await read('"Book.subtitle"'), await read()];
    expect(after.map((value, index) => value - (before[index] ?? 0))).toEqual([1, 1, 2]);
  });
});
