import { setTimeout as delay } from 'node:timers/promises';

const headers = {
  Authorization: `Bearer ${process.env.__VARIABLE__}`,
  'Content-Type': 'application/json',
  'Idempotency-Key': crypto.randomUUID(), // the same one with each try
};
const body = __BODY__;
for (let tries = 1; ; tries++) {
  const request = { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) };
  const [response, text] = await send(request).catch(() => []); // no answer, or half of one
  if (response && ![409, 429, 502, 503, 504].includes(response.status)) {
    console.log(response.status, text);
    break;
  }
  const told = response?.headers.get('Retry-After') ?? '1'; // seconds, or a date
  const seconds = Number(told) || Math.max(1, Math.ceil((Date.parse(told) - Date.now()) / 1000) || 1);
  if (tries === 5 || seconds > 60) throw new Error(`No answer after ${tries} tries; the next is due in ${seconds} s.`);
  await delay(seconds * 1000 * (1 + Math.random())); // not all clients at the same moment
}

async function send(request) {
  const response = await fetch(__URL__, request);
  return [response, await response.text()];
}
