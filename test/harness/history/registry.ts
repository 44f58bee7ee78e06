import type { Rule } from './rule.ts';
import { sameKeySameElicitation, sameResponseSameResult } from './rules/repeats.ts';
import { nothingLeaks, nothingRemainsInRedis } from './rules/resources.ts';
import { approvalsOnce, callsAreApproved } from './rules/run-approvals.ts';
import { answersAreUsed, effectsOnce, outcomesAreTrue, questionsOnce } from './rules/run-effects.ts';
import { appendedWhole, finishesOnce, nothingRemains, readInOrder, storesTheFeed } from './rules/run-feed.ts';
import {
  lateWritesAreRefused,
  oneOwnerPerTerm,
  onlyTheOwnerWrites,
  termsRise,
} from './rules/run-ownership.ts';
import {
  ackedIsRecorded,
  everyAckHasAnId,
  everyAskEnds,
  nothingFromNowhere,
  oneAckedOutcome,
  oneTerminalForAll,
  onlyTheOwnerAnswers,
} from './rules/settlement.ts';
import { feedsOnlyAdvance, noGapNoRepeat, noLostEnding, nothingCrossesUsers } from './rules/streams.ts';
import { everyWaitReturns, neverBack, neverEarly, neverLate } from './rules/time.ts';
import {
  everyElicitationWasAsked,
  nothingByHalves,
  refusalsAreTrue,
  strayAskEnds,
} from './rules/wholeness.ts';

/** What must hold in every history: I for elicitations, R for agents' runs. A number is never used again. */
export const RULES = {
  I1: {
    statement: 'an acknowledged ask names its elicitation, which ends',
    perElicitation: [everyAskEnds],
    overall: [everyAckHasAnId],
  },
  I2: { statement: 'all observers see the same end', perElicitation: [oneTerminalForAll] },
  I3: { statement: 'acknowledgements stand for one recorded outcome', perElicitation: [oneAckedOutcome] },
  I4: { statement: 'what was acknowledged is what is recorded', perElicitation: [ackedIsRecorded] },
  I5: { statement: 'an outcome appears only after it was sent', perElicitation: [nothingFromNowhere] },
  I6: { statement: 'a wait returns within its bound', perElicitation: [everyWaitReturns] },
  I7: { statement: 'nothing expires before its deadline', perElicitation: [neverEarly] },
  I8: { statement: 'no command settles after the deadline', perElicitation: [neverLate] },
  I9: { statement: 'a later read never denies an earlier reply', perElicitation: [neverBack] },
  I10: { statement: "only the owner's answer is taken", perElicitation: [onlyTheOwnerAnswers] },
  I11: { statement: "no caller is shown another person's data", perElicitation: [nothingCrossesUsers] },
  I12: {
    statement: 'streams have no gap and no repeat, and bring every end',
    overall: [noGapNoRepeat, feedsOnlyAdvance, noLostEnding],
  },
  I13: {
    statement: 'a repeated request gets the result of the first',
    perElicitation: [sameResponseSameResult],
    overall: [sameKeySameElicitation],
  },
  I14: { statement: 'no key and no channel remains in Redis', overall: [nothingRemainsInRedis] },
  I15: { statement: 'memory, handles and sockets come back down', overall: [nothingLeaks] },
  I16: {
    statement: 'an outcome exists whole or not at all, and a refusal is true',
    perElicitation: [nothingByHalves, refusalsAreTrue, strayAskEnds],
    overall: [everyElicitationWasAsked],
  },
  R1: { statement: 'a turn that began finishes, once', perRun: [finishesOnce] },
  R2: { statement: "the feed has the model's text: whole, in order, once", perRun: [appendedWhole] },
  R3: { statement: 'a call with an effect reaches its server once at most', perRun: [effectsOnce] },
  R4: { statement: 'the outcome of a call is appended once, and is true', perRun: [outcomesAreTrue] },
  R5: { statement: 'a question is asked once', perRun: [questionsOnce] },
  R6: { statement: "a question's answer is used, and no other", perRun: [answersAreUsed] },
  R7: { statement: 'terms rise one by one', perRun: [termsRise] },
  R8: { statement: 'a term has one owner', perRun: [oneOwnerPerTerm] },
  R9: { statement: 'no write under an older term, nor after the end', perRun: [lateWritesAreRefused] },
  R10: { statement: 'only the owner of a term tries to write under it', perRun: [onlyTheOwnerWrites] },
  R11: { statement: 'readers see text in order, and all of it by a clean end', perRun: [readInOrder] },
  R12: { statement: 'the stored messages are those of the feed', perRun: [storesTheFeed] },
  R13: { statement: 'an ended run remains in no index, queue or inbox', perRun: [nothingRemains] },
  R14: {
    statement: 'a call that needs an approval is asked once, and made as its person decided or not at all',
    perRun: [callsAreApproved, approvalsOnce],
  },
} as const satisfies Readonly<Record<string, Rule>>;

export type RuleName = keyof typeof RULES;

export const RULE_NAMES = Object.keys(RULES) as readonly RuleName[];
