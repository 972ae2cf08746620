/** Who shares an instance of an MCP server. */

/** `shared`: one instance in each worker process. `tenant`, `context`: one for each tenant or context that needs it. */
export const SERVER_SCOPES = ['shared', 'tenant', 'context'] as const;
export type ServerScope = (typeof SERVER_SCOPES)[number];
