import { randomUUID } from 'node:crypto';
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { microseconds } from '../../measurement.ts';
import { QUESTION } from '../../pod/engine.ts';
import type { Contender } from '../../processes/contenders.ts';
import { inSlots } from '../../slots.ts';

const SLOTS = 10;

interface Answer {
  readonly at: number;
}

const State = Annotation.Root({ question: Annotation<object>, answer: Annotation<Answer> });

/**
 * A thread for each question. `invoke` returns at the interrupt, and the asker is not woken: the process that invokes
 * the graph with the answer loads the checkpoint and runs the rest of the node itself.
 */
export async function openPeer(url: string): Promise<Contender> {
  const checkpointer = PostgresSaver.fromConnString(url);
  await checkpointer.setup();
  let resumed: (startedAt: number) => void = () => undefined;
  const graph = new StateGraph(State)
    .addNode('ask', ({ question }) => {
      const answer = interrupt<object, Answer>(question);
      resumed(answer.at);
      return { answer };
    })
    .addEdge(START, 'ask')
    .addEdge('ask', END)
    .compile({ checkpointer });
  return {
    continuesInSettler: true,
    async open(count) {
      const ids = Array.from({ length: count }, () => randomUUID());
      await inSlots(count, SLOTS, async (index) => {
        await graph.invoke({ question: QUESTION }, { configurable: { thread_id: ids[index] } });
      });
      return ids;
    },
    async settle(id, onResumed) {
      resumed = onResumed;
      const resume = { environment: 'staging', at: microseconds() };
      await graph.invoke(new Command({ resume }), { configurable: { thread_id: id } });
    },
  };
}
