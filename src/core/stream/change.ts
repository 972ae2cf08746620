/** What may have changed, as those that follow a tenant learn of it. */
export const CHANGED_RESOURCES = ['contexts', 'roles', 'schedules', 'webhooks', 'keys'] as const;

/** `contexts`: also their workers, jobs, messages and approvals. */
export type ChangedResource = (typeof CHANGED_RESOURCES)[number];
