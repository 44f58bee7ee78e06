/** Values by name, for one reader each, who may come before or after the value; each value is read once. */
interface Mailbox<T> {
  put(name: string, value: T): void;
  take(name: string): Promise<T>;
}

interface Slot<T> {
  readonly value: Promise<T>;
  readonly put: (value: T) => void;
}

export function createMailbox<T>(): Mailbox<T> {
  const slots = new Map<string, Slot<T>>();
  function findSlot(name: string): Slot<T> {
    const slot = slots.get(name) ?? createSlot<T>();
    slots.set(name, slot);
    return slot;
  }
  return {
    put: (name, value) => findSlot(name).put(value),
    async take(name) {
      const value = await findSlot(name).value;
      slots.delete(name);
      return value;
    },
  };
}

function createSlot<T>(): Slot<T> {
  let put: (value: T) => void = () => undefined;
  const value = new Promise<T>((resolve) => {
    put = resolve;
  });
  return { value, put };
}
