/** What this program is called where the outside relies on it: in keys, metrics, named locks and challenges. */
export const PRODUCT = 'petstore';
