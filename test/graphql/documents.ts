import fc from 'fast-check';
import { number } from './exact-json.ts';

/** A GraphQL request. */
export interface GeneratedRequest {
  readonly query: string;
  readonly variables: object;
  readonly operationName: string | null | undefined;
}

/** What the variables may be declared as. */
const DECLARATIONS: Record<string, readonly string[]> = {
  limit: ['Int', 'Int!', 'Int = 3', 'Int! = 3', 'Int = null'],
  after: ['ID', 'ID = 2', 'ID = "3"'],
  status: ['PetStatus', 'PetStatus = SOLD', 'PetStatus!'],
  id: ['ID!', 'ID! = 4', 'ID! = "5"'],
  yes: ['Boolean!', 'Boolean! = true', 'Boolean = true', 'Boolean = false'],
  name: ['String!', 'String! = "Rex"'],
  input: ['NewPetInput!', 'NewPetInput! = { name: "Rex", categoryId: 9007199254740993, status: PENDING }'],
};
const FRAGMENTS: Record<string, string> = {
  Parts: 'on Pet { label: name ...More __typename }',
  More: 'on Pet { status ...Last ...Last }',
  Last: 'on Pet { category: categoryId ... on Pet { name } }',
  Page: 'on Query { pets(limit: $limit, after: $after) { ...More } }',
  Wrong: 'on Query { pets(limit: 0) { name } }',
};

/** Ids right and wrong, in every form that JSON has for them. */
const id = fc.oneof(
  fc.integer({ min: 1, max: 6 }).map(String),
  fc.constantFrom<unknown>(3, '999', 'x', '', '01', '9223372036854775807', '9223372036854775808', null, 1.5, true, []),
  fc.constantFrom('1e0', '1.0', '-0', '9007199254740993', '-9223372036854775808', '9223372036854775808').map(number),
);
const limit = fc.oneof(
  fc.integer({ min: 1, max: 6 }),
  fc.constantFrom<unknown>(100, 0, 101, -1, 'x', null, 2.5, true, number('1e0'), number('9007199254740993')),
);
const status = fc.constantFrom<unknown>('SOLD', 'AVAILABLE', 'sold', null, 5);
const name = fc.constantFrom<unknown>('x', '', '"\\\n\u2028\u0000é🐢', '\ud800', 5, null);
const input = fc.oneof(
  fc.record({ name, categoryId: id, status, colour: fc.constant('red') }, { requiredKeys: ['name', 'categoryId'] }),
  fc.constantFrom<unknown>(null, [], 'x', {}),
);
const yes = fc.constantFrom<unknown>(true, false, 'x', null);

const variables = fc.record({ limit, after: id, status, id, yes, name, input }, { requiredKeys: ['yes'] });

/** Selections of a Pet in every form that a document can write them. */
function selections(idIsStable: boolean): fc.Arbitrary<string> {
  const leaf = fc.constantFrom(
    ...['name', 'categoryId', 'status', '__typename', 'label: name', 'category: categoryId', '__proto__: name'],
    ...(idIsStable ? ['id', 'number: id'] : []),
    ...['...Parts', '...More', '...Last'],
  );
  const wrapped = fc
    .tuple(fc.constantFrom('... on Pet', '...', '... @include(if: $yes)', '... on Pet @skip(if: $yes)'), leaf)
    .map(([wrap, inner]) => `${wrap} { ${inner} }`);
  const directed = leaf.map((field) => `${field} @include(if: $yes)`);
  return fc
    .array(fc.oneof({ weight: 8, arbitrary: leaf }, { weight: 2, arbitrary: wrapped }, directed), {
      minLength: 1,
      maxLength: 6,
    })
    .map((fields) => `{ ${fields.join(' ')} }`);
}

const LISTS = [
  'pets(limit: $limit, after: $after)',
  'few: pets(limit: 2)',
  'some: pets(status: $status, limit: 4)',
  'wrong: pets(limit: 0)',
  'wrongAfter: pets(after: "x")',
];
const QUERIES = [...LISTS, 'pet(id: $id)', 'one: pet(id: 1)', 'none: pet(id: "999")', 'wrongId: pet(id: "x")'];
const MUTATIONS = [
  'addPet(input: $input)',
  'added: addPet(input: { name: $name, categoryId: 9007199254740993, status: SOLD })',
  'again: addPet(input: { name: "Rex", categoryId: "1", status: $status })',
  'wrong: addPet(input: { name: $name, categoryId: "x" })',
];

/** One root field, mostly; sometimes in two parts, in fragments, or beside others. */
function rootSelections(fields: readonly string[], idIsStable: boolean, fragments: readonly string[]) {
  const selection = selections(idIsStable);
  const field = fc.tuple(fc.constantFrom(...fields), selection).map((parts) => parts.join(' '));
  const inTwoParts = fc
    .tuple(fc.constantFrom(...fields), selection, selection)
    .map(([root, first, second]) => `${root} ${first} ... { ${root} ${second} }`);
  const others = fc.array(fc.oneof(field, fc.constantFrom('__typename', ...fragments)), { minLength: 1, maxLength: 3 });
  return fc.oneof(
    { weight: 4, arbitrary: field },
    { weight: 2, arbitrary: inTwoParts },
    { weight: 2, arbitrary: others.map((parts) => parts.join(' ')) },
  );
}

/** Documents beyond a limit, or at its edge. */
const OVER_LIMITS = [
  Array.from({ length: 6 }, (_, index) => `p${index}: pets(limit: $limit) { name }`).join(' '),
  Array.from({ length: 31 }, (_, index) => `p${index}: pet(id: 1) { name }`).join(' '),
  'pets { name } '.repeat(250),
];

const queries = rootSelections(QUERIES, true, ['...Page ...Page', '...Wrong ...Wrong']);
const operation = fc.oneof(
  { weight: 12, arbitrary: queries.map((root) => ({ type: 'query', root })) },
  { weight: 4, arbitrary: rootSelections(MUTATIONS, false, []).map((root) => ({ type: 'mutation', root })) },
  { weight: 1, arbitrary: fc.constantFrom(...OVER_LIMITS).map((root) => ({ type: 'query', root })) },
);

/** Requests whose documents are valid, but for a few, and whose variables are often not. */
export const generatedRequest: fc.Arbitrary<GeneratedRequest> = fc
  .record({
    operation,
    variables,
    declared: fc.record(
      Object.fromEntries(Object.entries(DECLARATIONS).map(([key, types]) => [key, fc.constantFrom(...types)])),
    ),
    operationName: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(undefined, 'Named') },
      fc.constantFrom(null, 'Other', ''),
    ),
  })
  .map(({ operation: { type, root }, declared, ...request }) => {
    const body = withFragments(root);
    const used = Object.keys(DECLARATIONS).filter((key) => new RegExp(`\\$${key}\\b`).test(body));
    const header = used.length === 0 ? '' : `(${used.map((key) => `$${key}: ${declared[key]}`).join(', ')})`;
    return { ...request, query: `${type} Named${header} ${body}` };
  });

/** A selection of the root, and the definitions of all fragments that it spreads. */
function withFragments(root: string): string {
  let text = `{ ${root} }`;
  for (const [key, definition] of Object.entries(FRAGMENTS).toReversed()) {
    if (text.includes(`...${key}`)) text += ` fragment ${key} ${definition}`;
  }
  // Parts spreads More, and More spreads Last: whoever needs them comes before them.
  for (const key of ['More', 'Last']) {
    if (text.includes(`...${key}`) && !text.includes(`fragment ${key} `)) text += ` fragment ${key} ${FRAGMENTS[key]}`;
  }
  return text;
}
