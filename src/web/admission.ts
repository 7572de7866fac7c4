import type { Context as KoaContext, Middleware } from 'koa';
import type { Deadline } from '../deadline.ts';

/** How a request of an API gets in: first its key, then, when its body is there, its share of the machine. */
export interface Admission {
  /** Lets a request with a valid key pass; throws ApiError `unauthorized` otherwise. Nothing of the body is read before. */
  readonly admit: Middleware;
  /**
   * Runs `work` when the body is there: as one of the requests at work of its key, whose validity is looked at again if
   * the body took long, and with the request's deadline. Throws ApiError `too_many_requests`, `unauthorized` or
   * `service_unavailable` instead.
   */
  readonly atWork: (ctx: KoaContext, work: (deadline: Deadline) => Promise<void>) => Promise<void>;
}
