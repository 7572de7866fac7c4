/** The bytes of a GET with a key. */
export const rawGet = (path: string, key: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;

/** The header of a POST of JSON with a key, but for its length and its end. */
export const rawHead = (path: string, key: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;

/** The bytes of such a POST; `more` are further lines of its header. */
export const rawPost = (path: string, key: string, body: string, more = ''): string =>
  `${rawHead(path, key)}${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
