import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { MemorySaver } from '@langchain/langgraph';

/** Keeps the checkpoints in a file. For several processes, use a checkpointer with a database, such as PostgresSaver. */
export class FileSaver extends MemorySaver {
  readonly #file: string;

  constructor(file: string) {
    super();
    this.#file = file;
    try {
      Object.assign(this, deserialize(readFileSync(file)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  override async put(...args: Parameters<MemorySaver['put']>) {
    const config = await super.put(...args);
    this.#save();
    return config;
  }

  override async putWrites(...args: Parameters<MemorySaver['putWrites']>) {
    await super.putWrites(...args);
    this.#save();
  }

  #save(): void {
    const { storage, writes } = this;
    writeFileSync(`${this.#file}.new`, serialize({ storage, writes }));
    // If the process is killed while it writes, the old file must not be lost.
    renameSync(`${this.#file}.new`, this.#file);
  }
}
