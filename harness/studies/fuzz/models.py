"""The tables of campaigns: who they are, what each target has come to, what was told."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from harness.ledger.engine import Base


class CampaignRow(Base):
    """A campaign. Of several by one name the one with the greatest id goes on.

    identity: the options and versions that decide what it does. seconds: spent, over all sessions.
    """

    __tablename__ = "campaigns"

    id: Mapped[int] = mapped_column(sa.Integer, primary_key=True)
    name: Mapped[str] = mapped_column(index=True)
    identity: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    started: Mapped[str]
    sessions: Mapped[int] = mapped_column(default=0)
    seconds: Mapped[float] = mapped_column(default=0.0)


class PartRow(Base):
    """A part of the state of a target; see :meth:`harness.studies.fuzz.state.State.parts`."""

    __tablename__ = "campaign_parts"

    campaign: Mapped[int] = mapped_column(
        sa.ForeignKey(CampaignRow.id, ondelete="CASCADE"), primary_key=True
    )
    target: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[bytes]


class ReportedRow(Base):
    """A finding that a session has told: its reports were written."""

    __tablename__ = "campaign_told"

    id: Mapped[str] = mapped_column(primary_key=True)
