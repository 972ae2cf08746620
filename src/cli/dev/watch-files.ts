/**
 * Watches the files that a config was loaded from. Folders are watched rather than files, because editors replace files,
 * and because a missing import may be created later. Only another content counts, or other names of code in a folder.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, watch, type FSWatcher } from 'node:fs';
import path from 'node:path';

/** Editors write a file in several steps. Changes within this time count as one, in milliseconds. */
const SETTLE_MS = 80;

const CODE = /\.(?:[cm]?[jt]s|json)$/;

export class WatchedFiles {
  readonly #onChange: (changed: readonly string[]) => void;
  readonly #watchers = new Map<string, FSWatcher>();
  /** A hash for each file, and for the names in each folder. */
  readonly #known = new Map<string, string>();
  #files: readonly string[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** `onChange` gets the paths of what changed: files, and folders that have other files now. */
  constructor(onChange: (changed: readonly string[]) => void) {
    this.#onChange = onChange;
  }

  /** Watches these from now on, and nothing else. What was watched before and has changed meanwhile still counts. */
  watch(files: readonly string[]): void {
    this.#files = files;
    for (const one of this.#known.keys()) if (!files.includes(one) && !this.#watchers.has(one)) this.#known.delete(one);
    this.#openFolders();
    for (const file of files) if (!this.#known.has(file)) this.#known.set(file, hashOfFile(file));
  }

  /** Watches one more. */
  add(file: string): void {
    if (!this.#files.includes(file)) this.watch([...this.#files, file]);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Watches the folder of each file, or the nearest one above it that exists: an import may have waited for both. */
  #openFolders(): void {
    const folders = new Set(this.#files.map((file) => nearestFolder(file)));
    for (const [folder, watcher] of this.#watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
      this.#known.delete(folder);
    }
    for (const folder of folders) {
      if (!this.#watchers.has(folder)) this.#open(folder);
      if (!this.#known.has(folder)) this.#known.set(folder, hashOfFolder(folder));
    }
  }

  #open(folder: string): void {
    try {
      const watcher = watch(folder, () => this.#look());
      watcher.on('error', () => this.#watchers.delete(folder));
      this.#watchers.set(folder, watcher);
    } catch {
      // The folder was removed meanwhile. Its files were, too, which the next comparison finds.
    }
  }

  #look(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#compare(), SETTLE_MS);
  }

  #compare(): void {
    this.#timer = null;
    this.#openFolders();
    const changed: string[] = [];
    for (const [place, known] of this.#known) {
      const now = this.#watchers.has(place) ? hashOfFolder(place) : hashOfFile(place);
      if (now === known) continue;
      this.#known.set(place, now);
      changed.push(place);
    }
    if (changed.length > 0) this.#onChange(changed);
  }
}

function nearestFolder(file: string): string {
  const folder = path.dirname(file);
  return existsSync(folder) || folder === file ? folder : nearestFolder(folder);
}

const NONE = '';

function hashOfFile(file: string): string {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  } catch {
    return NONE;
  }
}

function hashOfFolder(folder: string): string {
  try {
    const names = readdirSync(folder).filter((name) => CODE.test(name));
    return names.sort().join('\n');
  } catch {
    return NONE;
  }
}
