import { getNamedType, isInputObjectType, type OperationDefinitionNode, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { columnsOf } from '../../src/gateway/store/table.ts';
import { PETSTORE } from '../../src/petstore/petstore.ts';
import { SQLITE } from '../support/engines.ts';
import { OPERATIONS, openApiDocument, SCHEMA } from '../support/petstore-api.ts';
import { useGateway } from './checked-gateway.ts';

const document = openApiDocument('http://petstore.example') as any;

/** What a `$ref` of the document refers to. */
const follow = (part: any): any =>
  part?.$ref === undefined
    ? part
    : part.$ref
        .slice(2)
        .split('/')
        .reduce((inner: any, name: string) => inner[name], document);

/** The one root field of a document of the table, as it stands there and as it is in the schema. */
function rootOf(text: string) {
  const operation = parse(text).definitions[0] as OperationDefinitionNode;
  const [node] = operation.selectionSet.selections;
  if (node?.kind !== 'Field') throw new Error('a root field is a field');
  const field = SCHEMA.getRootType(operation.operation)?.getFields()[node.name.value];
  return { operation, node, field };
}

describe.each(OPERATIONS)('$operationId', ({ operationId, method, path, document: text, success, answer }) => {
  const hasContent = answer !== undefined;
  const { operation, node, field } = rootOf(text);
  const described = document.paths[path][method.toLowerCase()];

  test.skipIf(!hasContent)(
    'shows in OpenAPI the fields that its document selects, and requires those that are never null',
    () => {
      const selected = node.selectionSet?.selections.map((leaf) => (leaf.kind === 'Field' ? leaf.name.value : ''));
      const answer = follow(described.responses[success.status].content['application/json'].schema);
      const { properties, required } = follow(answer.items ?? answer);
      expect(Object.keys(properties)).toEqual(selected);
      const fields = Object.entries((getNamedType(field?.type) as any).getFields());
      const never = fields.filter(([, leaf]) => String((leaf as any).type).endsWith('!')).map(([name]) => name);
      expect(required).toEqual(selected?.filter((name) => never.includes(name)));
    },
  );

  test.skipIf(!hasContent)('selects every field that is kept of what it gives', () => {
    const selected = node.selectionSet?.selections.map((leaf) => (leaf.kind === 'Field' ? leaf.name.value : ''));
    const table = PETSTORE.resources.find(({ operationRows }) =>
      operationRows.some((row) => row.operationId === operationId),
    )?.table;
    const kept = ['id', ...(table ? columnsOf(table).map(({ name }) => name) : [])];
    expect(kept.length).toBeGreaterThan(1);
    const left = kept.filter((name) => !selected?.includes(name));
    expect(left, `the document of ${operationId} leaves out what ${table?.name} keeps`).toEqual([]);
  });

  test('offers every argument of its root field: in the path, in the query or as the body', () => {
    const offered = described.parameters.filter((parameter: any) => parameter.in !== 'header');
    const variables = operation.variableDefinitions?.map(({ variable }) => variable.name.value) ?? [];
    const passed = node.arguments?.map(({ name }) => name.value) ?? [];
    const left = field?.args.map(({ name }) => name).filter((name) => !passed.includes(name));
    expect(left, `the document of ${operationId} leaves out arguments of ${field?.name}`).toEqual([]);
    const bodies = field?.args.filter(({ type }) => isInputObjectType(getNamedType(type))) ?? [];
    expect(offered).toHaveLength(variables.length - bodies.length);
    for (const { name } of offered) expect(variables).toContain(name);
    expect(described.requestBody !== undefined).toBe(bodies.length > 0);
  });

  test('describes every parameter and property, and has an example for every status', () => {
    expect([described.summary, described.description]).toEqual([
      expect.stringMatching(/^[A-Z]/),
      expect.stringMatching(/^[A-Z].*\.$/s),
    ]);
    for (const { description } of described.parameters) expect(description).toMatch(/^[A-Z].*\.$/);
    for (const [status, response] of Object.entries<any>(described.responses)) {
      if (!hasContent && Number(status) === success.status) continue;
      const { schema: bodySchema, example } = follow(response).content['application/json'];
      expect(example).toBeDefined();
      const shape = follow(follow(bodySchema).items ?? bodySchema);
      for (const { description } of Object.values<any>(shape.properties)) expect(description).toMatch(/^[A-Z].*\.$/);
    }
  });
});

const gateway = useGateway(SQLITE);

test('the 400 of the document is the one that is answered', async () => {
  const { message } = document.paths['/pets'].get.responses[400].content['application/json'].example;
  expect((await gateway.get('/v1/pets?limit=0')).json.message).toBe(message);
  const { example } = document.paths['/pets'].post.responses[400].content['application/json'];
  expect((await gateway.post('{}')).json).toEqual(example);
});
