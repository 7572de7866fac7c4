/** `scheme://user@…` without a password. Web addresses are excluded, because their user may be a token. */
const USER_ONLY = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^:@/%]*@[^@]*$/i;

/** Replaces the passwords of addresses in `text` by `***`. */
export function maskCredentials(text: string): string {
  // Greedy up to the last @, because a password may hold an @, / or : that is not percent-encoded.
  const masked = USER_ONLY.test(text) ? text : text.replace(/^([a-z][a-z0-9+.-]*:\/*)?([^:@/]*):(.*)@/i, '$1$2:***@');
  // Query parameters: passwords as other drivers write them, and TLS options as JSON, which may hold a private key.
  return masked.replaceAll(/([?&](?:password|pwd|ssl(?==(?:\{|%7b)))=)[^&]*/gi, '$1***');
}
