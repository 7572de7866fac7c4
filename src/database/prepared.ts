/** A value for a `?` of a prepared statement; a number is an integer. */
export type Binding = string | number | bigint | null;
