/**
 * The instances of an MCP server of which each tenant, or each context, has one of its own. An instance is started for a
 * job that needs it, and stops when it was not used for a while and no job that used it runs in this process. The tools
 * that it offered stay known, so that it starts again without delaying the next job.
 */
import type { ContextId } from '../../../core/ids.ts';
import type { ToolCaller } from '../../../core/tools/tool.ts';
import type { Offer, Runs, ServerWatch } from '../../registry/servers.ts';
import type { Tool } from '../../registry/tool.ts';
import type { ToolLog } from '../../run/tool-log.ts';
import { notListed, standIn } from '../stand-in.ts';
import type { ServerSettings } from '../settings/server-settings.ts';
import { Editions } from './editions.ts';
import { McpServer } from './server.ts';

/**
 * An instance that was used this lately is not stopped to make room for another one, in milliseconds; less if the idle
 * timeout is shorter.
 */
const IN_USE_MS = 60_000;
/** How often unused instances are looked for, in milliseconds; more often if the idle timeout is shorter. */
const LOOK_MS = 15_000;
/** Stopped instances whose tools are remembered. */
const MOST_REMEMBERED = 1_000;

type Instance = {
  server: McpServer;
  editions: Editions;
  usedAt: number;
  /** The contexts whose jobs use it, in this process. */
  contexts: Set<ContextId>;
};

export type InstanceParts = { version: string; log: ToolLog; watch: ServerWatch; runs: Runs };

export class Instances {
  readonly #settings: ServerSettings;
  readonly #parts: InstanceParts;
  readonly #standIn: Tool;
  /** By the id of its tenant or context; the least recently used first. */
  readonly #byOwner = new Map<string, Instance>();
  /** Contexts for which there was no room. */
  readonly #refused = new Set<ContextId>();
  readonly #looking: NodeJS.Timeout;
  #isStopped = false;

  constructor(settings: ServerSettings, parts: InstanceParts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#standIn = standIn(settings.name);
    this.#looking = setInterval(() => this.#stopUnused(), Math.min(LOOK_MS, settings.idleTimeoutMs));
    this.#looking.unref();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#looking);
    await Promise.all([...this.#byOwner.values()].map(({ server }) => server.stop()));
  }

  /** Whether the instance of the caller runs, or may be started. If not, stops an unused one, so that it may be later. */
  hasRoom(caller: ToolCaller): boolean {
    if (this.#isStopped) return false;
    const active = [...this.#byOwner.values()].filter(({ server }) => server.isActive);
    if (this.#find(caller)?.server.isRunning === true || active.length < this.#settings.maxInstances) return true;
    this.#refused.add(caller.contextId);
    const unusedMs = Math.min(IN_USE_MS, this.#settings.idleTimeoutMs);
    // One at a time: what is being stopped makes room, too.
    if (active.every(({ server }) => server.isRunning))
      void active
        .find((one) => this.#isUnused(one, unusedMs))
        ?.server.stop()
        .then(() => this.#madeRoom());
    return false;
  }

  /** Starts the instance of the caller if it does not run. There is room. */
  use(caller: ToolCaller): void {
    const owner = ownerOf(this.#settings, caller);
    const instance = this.#byOwner.get(owner) ?? this.#make(caller);
    instance.usedAt = performance.now();
    instance.contexts.add(caller.contextId);
    this.#refused.delete(caller.contextId);
    this.#byOwner.delete(owner);
    this.#byOwner.set(owner, instance);
    if (instance.server.isRunning) return;
    void instance.server.start();
    this.#tellCount();
  }

  offer(caller: ToolCaller): Offer {
    const instance = this.#find(caller);
    if (instance === undefined) return { kind: 'starting' };
    const { offered, isStarting } = instance.server;
    if (offered !== null) return { kind: 'tools', tools: instance.editions.of(caller.jobId, offered) };
    return isStarting ? { kind: 'starting' } : { kind: 'tools', tools: [this.#standIn.descriptor] };
  }

  /** For a call. Starts the instance again, if there is room. */
  get(tool: string, caller: ToolCaller): Tool | undefined {
    if (this.hasRoom(caller)) this.use(caller);
    const server = this.#find(caller)?.server;
    const found = server?.get(tool);
    if (found !== undefined) return found;
    if (tool === this.#standIn.descriptor.name) return this.#standIn;
    return server === undefined || server.offered === null ? notListed(this.#settings, tool) : undefined;
  }

  #find(caller: ToolCaller): Instance | undefined {
    return this.#byOwner.get(ownerOf(this.#settings, caller));
  }

  #make(caller: ToolCaller): Instance {
    const { version, log, watch } = this.#parts;
    const contexts = new Set<ContextId>();
    const own: ServerWatch = {
      ...watch,
      // One gauge for many instances would say nothing.
      up: (_, isUp) => {
        if (isUp) for (const contextId of contexts) watch.ready(contextId);
      },
    };
    const server = new McpServer(settingsFor(this.#settings, caller), version, log, own);
    return { server, editions: new Editions(), usedAt: performance.now(), contexts };
  }

  #stopUnused(): void {
    for (const one of this.#byOwner.values()) {
      for (const contextId of one.contexts) if (!this.#parts.runs.has(contextId)) one.contexts.delete(contextId);
      if (one.server.isRunning && this.#isUnused(one, this.#settings.idleTimeoutMs))
        void one.server.stop().then(() => this.#madeRoom());
    }
    for (const [owner, { server }] of this.#byOwner) {
      if (this.#byOwner.size <= MOST_REMEMBERED) break;
      if (!server.isActive) this.#byOwner.delete(owner);
    }
  }

  #isUnused({ server, usedAt, contexts }: Instance, ms: number): boolean {
    if (server.isBusy || server.isStarting) return false;
    if ([...contexts].some((contextId) => this.#parts.runs.has(contextId))) return false;
    return performance.now() - Math.max(usedAt, server.calledAt) >= ms;
  }

  /** Contexts that waited for room are tried again. */
  #madeRoom(): void {
    this.#tellCount();
    for (const contextId of this.#refused) this.#parts.watch.ready(contextId);
    this.#refused.clear();
  }

  #tellCount(): void {
    const running = [...this.#byOwner.values()].filter(({ server }) => server.isActive).length;
    this.#parts.watch.instances(this.#settings.name, running);
  }
}

function ownerOf({ scope }: ServerSettings, { tenantId, contextId }: ToolCaller): string {
  return scope === 'context' ? contextId : String(tenantId);
}

/** The process of an instance learns by its environment whose it is. */
function settingsFor(settings: ServerSettings, { tenantName, contextId }: ToolCaller): ServerSettings {
  const { reach, scope } = settings;
  if (reach.kind !== 'stdio') return settings;
  const owner = {
    NIGHTSHIFT_TENANT: tenantName,
    ...(scope === 'context' ? { NIGHTSHIFT_CONTEXT_ID: contextId } : {}),
  };
  return { ...settings, reach: { ...reach, env: { ...reach.env, ...owner } } };
}
