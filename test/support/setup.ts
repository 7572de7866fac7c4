import { afterAll, expect } from 'vitest';
import { cleanUpAfterFile } from './engines.ts';
import { takeUnexpected } from './graphql-js-watch.ts';

// Runs before every test file.
afterAll(() => expect(takeUnexpected()).toEqual([]));
afterAll(cleanUpAfterFile);
