/** Functions that run in place of tools. */
import type { JsonObject } from '../core/json.ts';
import type { ToolContext, ToolReturn } from '../tools/registry/tool-context.ts';

/** A method type, so that a stand-in may name the type of its input. */
type Runs = { run(input: JsonObject, context: ToolContext): ToolReturn | Promise<ToolReturn> };

/** Runs in place of a tool. */
export type StandIn = Runs['run'];

/** By the name of the tool. */
export type StandIns = Readonly<Record<string, StandIn>>;
