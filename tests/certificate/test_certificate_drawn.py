"""Every record has a certificate: of drawn models, what is not certified is named."""

import json

import pytest

from derive import Parameterization
from derive.certificate.checking.check import NotACertificate, Rejected, check_text
from tests.published import certified_once

MODELS = [
    (["2 + 4*w**3"], {}, []),
    (["p**3 - q**3", "p**3 + q**3"], {}, []),
    (["a*b*c/10"], {"start": dict.fromkeys("abc", "1/3")}, []),
    (["a + b", "a*b"], {}, []),
    (["a + b", "a**2 + b**2"], {}, []),
    (["a*b", "pi*a*b"], {}, []),
    (["a*b", "c*a*b"], {"parameters": ["c"]}, []),
    (["norm(u)**k*u"], {"vectors": ["u"]}, ["Q of s"]),
    (["exp(a)*cos(b)", "exp(a)*sin(b)"], {"start": {"b": "0"}}, []),
    (["(a + 2*b)*(c - d)"], {"start": {"a": "-1/2", "b": "-1", "c": "-1/2", "d": "-1/2"}}, []),
    (["log(exp(a) + exp(b))"], {"start": dict.fromkeys("ab", "-1")}, []),
]


@pytest.mark.every(4)
@pytest.mark.parametrize(("outputs", "options", "left"), MODELS, ids=lambda x: str(x)[:30])
def test_a_drawn_model_has_a_certificate(outputs, options, left):
    record = json.loads(certified_once(Parameterization.parse(outputs, **options)))
    report = check_text(json.dumps(record))
    assert (report.verdict, [*report.open]) == (record["verdict"], left)
    record["metric"]["kernel_in_weights"][0][0] += " + 1"
    with pytest.raises((Rejected, NotACertificate)):
        check_text(json.dumps(record))
