"""A verifier: the share of the wanted words that a completion holds."""

import json
import re

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.verifier import Sample, Score, Verdict_Abstained, Verdict_Scored


class Verifier(exports.Verifier):
    def verify(self, sample: Sample):
        settings = json.loads(sample.settings) or {}
        wanted = [word.lower() for word in settings.get("words", [])]
        if not wanted:
            raise Err("the settings name no words")
        if not sample.completion.strip():
            return Verdict_Abstained("the completion is empty")
        have = set(re.findall(r"[\w']+", sample.completion.lower()))
        missing = [word for word in wanted if not set(word.split()) <= have]
        reward = 1 - len(missing) / len(wanted)
        return Verdict_Scored(Score(reward, json.dumps({"missing": missing})))
