/** The public interface of the package, for `nightshift.config.ts` and for services that run Nightshift themselves. */
export { createNightshift } from './embed/nightshift.ts';
export { NightshiftStartError, type NightshiftStartCode } from './embed/start-error.ts';
export { NightshiftEnqueueError, type NightshiftEnqueueCode } from './embed/enqueue/enqueue-error.ts';
export type { EnqueueJob, EnqueueMessage, EnqueueWorker, Enqueued, SqlRunner } from './embed/enqueue/types.ts';
export type {
  ApiOptions,
  Authenticate,
  FastifyPlugin,
  FetchHandler,
  Nightshift,
  NightshiftCaller,
  NightshiftLogLevel,
  NightshiftLogger,
  NightshiftOptions,
  NodeHandler,
  NodeRequest,
  PathOptions,
  TenantOptions,
} from './embed/options.ts';
export { defineConfig, defineTool } from './tools/config/define.ts';
export { defineToolPackage } from './tools/packages/define-package.ts';
export { env } from './tools/packages/environment-variable.ts';
export { ToolError, type ToolErrorOptions } from './tools/run/tool-error.ts';
export type {
  JsonSchemaTool,
  OperatorConfig,
  RoleDefinition,
  SchemaTool,
  ToolApproval,
  ToolDefinition,
  TransactionalJsonSchemaTool,
  TransactionalSchemaTool,
} from './tools/config/define.ts';
export type {
  ApprovalCall,
  CallLog,
  Reconciliation,
  ToolContext,
  ToolProgress,
  ToolReply,
  ToolReturn,
  ToolWorker,
  TransactionalContext,
  UnknownCall,
} from './tools/registry/tool-context.ts';
export type {
  EnqueuedInput,
  EnqueueInput,
  EnqueueOptions,
  SpawnedWorker,
  SpawnOptions,
  SpawnWorker,
} from './tools/durable/start-types.ts';
export type { RunStep, StepContext, StepResult } from './tools/durable/step-types.ts';
export type { PackageConfigSchema } from './tools/packages/config-schema.ts';
export type { ToolPackage, ToolPackageOptions, ToolPackageParts } from './tools/packages/define-package.ts';
export type { EnvironmentVariable } from './tools/packages/environment-variable.ts';
export type { UsedToolPackage } from './tools/packages/used-package.ts';
export type { OutboxDefinition } from './tools/config/sections/outboxes.ts';
export type { PriceDefinition } from './tools/config/sections/prices.ts';
export type { LimitDefinitions } from './tools/config/limits.ts';
export type { StandardSchema } from './tools/config/standard-schema.ts';
export type { ImageBlock, ResultPart, TextBlock } from './core/conversation/blocks.ts';
export type { Json, JsonObject } from './core/json.ts';
export type { Approval, ApprovalRule } from './core/run/policy.ts';
export type { Effect } from './core/tools/tool.ts';
export type { SqlParameter, ToolTransaction } from './core/tools/transaction.ts';
