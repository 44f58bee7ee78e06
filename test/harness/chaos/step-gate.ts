import { type ChaosGate, createChaosGate } from './gate.ts';

/** A proxy to Redis or to a Sentinel whose connections fall silent at one step. */
export type StepGate = Pick<ChaosGate, 'port' | 'url' | 'close'> & {
  /**
   * From now on a connection that sends this command is half-open for good: it stays, and no byte passes it. Without a
   * command, every new command passes; the silent connections stay silent.
   */
  silence(command?: string): void;
  /** How many connections fell silent since the last call of `silence` with a command. */
  silenced(): number;
};

/** Listens on a free port of 127.0.0.1 and passes everything on to `targetPort` until `silence`. */
export async function createStepGate(targetPort: number): Promise<StepGate> {
  let step: string | undefined;
  let count = 0;
  const gate = await createChaosGate({
    targetPort,
    judge([name]) {
      if (step === undefined || name?.toUpperCase() !== step) return 'pass';
      return { cut: 'before', done: () => (count += 1) };
    },
  });
  return {
    port: gate.port,
    url: gate.url,
    silence(command) {
      step = command?.toUpperCase();
      if (command !== undefined) count = 0;
    },
    silenced: () => count,
    close: () => gate.close(),
  };
}
