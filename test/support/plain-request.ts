import { once } from 'node:events';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';

/** A request by Node alone, which adds no header as fetch does; the body's bytes are as they came, compressed or not. */
export async function plainRequest(url: string, options: RequestOptions = {}, body?: string) {
  const sent = request(url, options).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage]; // what the event brings
  const bytes = Buffer.concat(await response.toArray());
  return { status: response.statusCode, headers: response.headers, bytes };
}
