/** The package: what an operator's `nightshift.config.ts` imports. */
export { defineConfig, defineTool } from './tools/define.ts';
export type {
  JsonSchemaTool,
  LimitDefinitions,
  OperatorConfig,
  RoleDefinition,
  SchemaTool,
  ToolContext,
  ToolDefinition,
  ToolReply,
  ToolReturn,
} from './tools/define.ts';
export type { StandardSchema } from './tools/standard-schema.ts';
export type { ImageBlock, ResultPart, TextBlock } from './core/blocks.ts';
export type { Json, JsonObject } from './core/json.ts';
export type { Effect } from './core/tool.ts';
