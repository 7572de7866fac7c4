import type { Answer } from '../support/client.ts';
import type { TestGateway } from '../support/gateway.ts';

const MARK = 'number:';

/** A JSON number to be written as it is spelled: `number('9007199254740993')`, `number('1e2')`. */
export function number(spelling: string): string {
  return MARK + spelling;
}

/** JSON.stringify, with every `number(…)` as the bare number. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(new RegExp(`"${MARK}([^"]*)"`, 'g'), '$1');
}

/** POSTs a GraphQL request whose numbers have all their digits. */
export function postGraphql(gateway: TestGateway, body: object, headers?: Record<string, string>): Promise<Answer> {
  return gateway.request('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: exactJson(body),
  });
}
