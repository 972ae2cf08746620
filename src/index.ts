/** The public interface of the package, for imports in `nightshift.config.ts`. */
export { defineConfig, defineTool } from './tools/define.ts';
export { ToolError } from './tools/tool-error.ts';
export type {
  ApprovalCall,
  JsonSchemaTool,
  OperatorConfig,
  PriceDefinition,
  Reconciliation,
  RoleDefinition,
  SchemaTool,
  ToolApproval,
  ToolContext,
  ToolDefinition,
  ToolReply,
  ToolReturn,
  UnknownCall,
} from './tools/define.ts';
export type { LimitDefinitions } from './tools/define-limits.ts';
export type { StandardSchema } from './tools/standard-schema.ts';
export type { ImageBlock, ResultPart, TextBlock } from './core/blocks.ts';
export type { Json, JsonObject } from './core/json.ts';
export type { Approval, ApprovalRule } from './core/policy.ts';
export type { Effect } from './core/tool.ts';
