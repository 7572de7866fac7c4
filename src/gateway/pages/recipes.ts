import { KEY_PREFIX } from '../masking.ts';
import { codeSamples, keyVariable, quote, shellQuote } from './code-samples.js';
import { fillFile } from './html.ts';

/** Programs by language. Each does one thing that a client needs, and runs as it stands. */
export type Recipes = Readonly<Record<string, string>>;

/** The environment variable that they read the key from. */
export const VARIABLE = keyVariable(KEY_PREFIX);

/** The ending of each language's files, and how the language writes a text as a literal. */
const LANGUAGES = {
  curl: ['sh', shellQuote],
  JavaScript: ['js', (text: string) => literalOf(text, '`', /[`\\]|\$\{/g)],
  Python: ['py', (text: string) => literalOf(text, "'''", /['\\]/g)],
} as const;

type Language = keyof typeof LANGUAGES;

/** A text of several lines stands between two `quotes`, with a backslash before what is `special` there. */
function literalOf(text: string, quotes: string, special: RegExp): string {
  return text.includes('\n') ? quotes + text.replaceAll(special, '\\$&') + quotes : quote(text);
}

/** The programs `name` of the folder `recipes`; `texts` stand in them as literals. */
export function readRecipes(
  name: string,
  texts: Readonly<Record<string, string>>,
  languages: readonly Language[] = ['curl', 'JavaScript', 'Python'],
): Recipes {
  const programs = languages.map((language) => {
    const [ending, literal] = LANGUAGES[language];
    const literals = Object.entries(texts).map(([key, text]) => [key, literal(text)]);
    return [language, fillFile(`recipes/${name}.${ending}`, { ...Object.fromEntries(literals), VARIABLE })];
  });
  return Object.fromEntries(programs);
}

/** Programs that send a query to the GraphQL API. */
export function queryRecipes(url: string, query: string): Recipes {
  const headers = [['Content-Type', 'application/json']];
  const calls = codeSamples({ method: 'POST', url, headers, body: JSON.stringify({ query }) }, VARIABLE, false);
  return {
    ...calls,
    JavaScript: `${calls.JavaScript}\nconsole.dir(await response.json(), { depth: null });`,
    Python: `${calls.Python}\nprint(response.json())`,
  };
}

/** Programs that read all pages of a connection: the one root field of `query`, with the cursor in the variable `after`. */
export function connectionRecipes(url: string, query: string): Recipes {
  const texts = { URL: url, QUERY: query };
  return { GraphQL: query, ...readRecipes('graphql-paging', texts, ['JavaScript', 'Python']) };
}
