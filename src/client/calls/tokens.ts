/** Tokens of end users. */
import type { CreateToken } from '../schema.ts';
import type { Request, RequestOptions } from '../transport.ts';

export function tokenCalls(request: Request) {
  return {
    /**
     * For a server: its key needs the scope `keys`. The browser gets the token alone. A request that is repeated after an
     * error makes another token, which does no harm.
     */
    create: (body: CreateToken, options?: RequestOptions) => request('POST', '/api/tokens', { body, ...options }),
    /** Ends all tokens of a user, and their event streams, within a second. */
    revoke: (user: string, options?: RequestOptions) =>
      request('DELETE', '/api/tokens', { query: { user }, ...options }),
  };
}
