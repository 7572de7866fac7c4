/** `scheme://user@…`: nothing secret before the @, except that a web address may have a token for a user. */
const USER_ONLY = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^:@/%]*@[^@]*$/i;

/** `text` with whatever may be a password in an address replaced by `***`. */
export function maskCredentials(text: string): string {
  // Greedy up to the last @: a password may hold @, / and : that somebody forgot to encode.
  const masked = USER_ONLY.test(text) ? text : text.replace(/^([a-z][a-z0-9+.-]*:\/*)?([^:@/]*):(.*)@/i, '$1$2:***@');
  // Passwords as other drivers write them; TLS options as JSON may hold a private key.
  return masked.replaceAll(/([?&](?:password|pwd|ssl(?==(?:\{|%7b)))=)[^&]*/gi, '$1***');
}
